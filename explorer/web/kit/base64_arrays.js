// Arrays travel as base64: 32-bit floats, or bytes.

/**
 * @param {string} text base64
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function bytes(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text); // ten times faster, where known
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i += 1) out[i] = raw.charCodeAt(i);
  return out;
}
/**
 * @template {string | null} Text
 * @param {Text} text base64 of 32-bit floats, or null
 * @returns {Text extends null ? null : Float32Array<ArrayBuffer>}
 */
export const floats = (text) => /** @type {any} */ (text ? new Float32Array(bytes(text).buffer) : null);
