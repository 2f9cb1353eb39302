// The name of an encoder as it is shown; vectors that a file has of its own texts bear the name of the file.

const NAMED = /#[0-9a-f]{32}$/;

/** @param {string} encoder */
export const isOwnVectors = (encoder) => NAMED.test(encoder);

/**
 * The name of an encoder as it is shown: of a file's own vectors that of the file.
 * @param {string} encoder
 */
export const encoderTitle = (encoder) => encoder.replace(NAMED, "");
