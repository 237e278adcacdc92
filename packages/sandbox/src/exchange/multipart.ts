// The parts of a multipart/form-data body, read before an operation sees it.
export interface FormPart {
  name: string;
  /** Absent: an ordinary field. */
  fileName?: string;
  bytes: Buffer;
}

/** Undefined where the body is not multipart/form-data, or cannot be read as such. */
export async function formParts(
  contentType: string | undefined,
  rawBody: Buffer,
): Promise<FormPart[] | undefined> {
  if (!contentType?.toLowerCase().startsWith("multipart/form-data")) return undefined;
  const headers = { "content-type": contentType };
  try {
    const form = await new Response(rawBody, { headers }).formData();
    return await Promise.all(
      [...form].map(async ([name, value]) =>
        typeof value === "string"
          ? { name, bytes: Buffer.from(value) }
          : { name, fileName: value.name, bytes: Buffer.from(await value.arrayBuffer()) },
      ),
    );
  } catch {
    return undefined;
  }
}
