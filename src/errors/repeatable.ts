/** The message of a call that failed; for an update whose outcome is unknown it says how to repeat it. */
export function repeatable(message: string, updateId: string | undefined): string {
  if (updateId === undefined) return message;
  return `${message}. It may have been taken all the same: repeat it with the update id ${updateId} (command line: --update-id ${updateId})`;
}
