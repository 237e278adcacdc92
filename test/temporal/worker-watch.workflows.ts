// The least that a worker can do.
export async function echo(said: string): Promise<string> {
  return said;
}
