// Pages with a cursor (P2 §4.2, §4.3). A cursor is the place of the next result; it is opaque to callers.

export function cursorOf(place: number): string {
  return Buffer.from(`at ${place}`).toString("base64url");
}

/** Undefined for what is no cursor of ours. */
export function placeOf(cursor: unknown): number | undefined {
  if (cursor === undefined || cursor === null || cursor === "") return 0;
  if (typeof cursor !== "string") return undefined;
  const place = /^at (\d{1,12})$/.exec(Buffer.from(cursor, "base64url").toString())?.[1];
  return place === undefined ? undefined : Number(place);
}
