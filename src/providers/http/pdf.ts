// Looks at what a provider calls a PDF before it is kept as one.

/** By its magic bytes, which may stand anywhere in the first kilobyte. */
export function isPdf(bytes: Buffer): boolean {
  return bytes.subarray(0, 1024).includes("%PDF-");
}
