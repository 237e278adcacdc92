// The body of an uploaded list. One whose length is known is read to its place, so that its pieces and the whole are never in
// memory together.
import type { FastifyRequest } from "fastify";

export async function readList(
  { headers, routeOptions }: FastifyRequest,
  payload: AsyncIterable<Buffer>,
): Promise<Buffer> {
  const limit = routeOptions.bodyLimit ?? Number.POSITIVE_INFINITY;
  const length = Number(headers["content-length"] ?? Number.NaN);
  if (length > limit) throw tooLarge();
  const whole = Number.isNaN(length) ? undefined : Buffer.allocUnsafeSlow(length);
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of payload) {
    if (whole) piece.copy(whole, bytes);
    else pieces.push(piece);
    bytes += piece.length;
    if (bytes > limit) throw tooLarge();
  }
  return whole ?? Buffer.concat(pieces);
}

function tooLarge(): Error {
  return Object.assign(new Error("Request body is too large"), { statusCode: 413 });
}
