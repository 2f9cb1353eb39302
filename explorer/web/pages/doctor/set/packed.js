// A text as short as it goes into an address: deflated, in base64 of the letters that an address takes.

/**
 * @param {string} text
 * @returns {Promise<string>}
 */
export async function packed(text) {
  const bytes = await through(new Blob([text]).stream(), new CompressionStream("deflate-raw"));
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/**
 * The text again, of at most so many bytes; null where it is damaged, or larger.
 * @param {string} letters
 * @param {number} most
 * @returns {Promise<string | null>}
 */
export async function unpacked(letters, most) {
  try {
    const plain = atob(letters.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
    const whole = await through(new Blob([bytes]).stream(), new DecompressionStream("deflate-raw"), most);
    return new TextDecoder("utf-8", { fatal: true }).decode(whole);
  } catch {
    return null;
  }
}

/**
 * @param {ReadableStream<Uint8Array<ArrayBuffer>>} stream
 * @param {CompressionStream | DecompressionStream} way
 * @param {number} most
 */
async function through(stream, way, most = Infinity) {
  /** @type {Uint8Array<ArrayBuffer>[]} */
  const parts = [];
  let size = 0;
  const reader = stream.pipeThrough(way).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > most) {
      await reader.cancel();
      throw new RangeError(String(most));
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
