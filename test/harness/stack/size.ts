/** How large a test of test/long is: in full by default, bounded for `npm run verify`. */
export function sized(full: number, bounded: number): number {
  return process.env["TEST_BOUNDED"] === undefined ? full : bounded;
}
