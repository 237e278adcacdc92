// How a worker gives up its polls at the end. A task that the server hands to a poll in that moment is lost until its time is
// over: an activity is then attempted once more. A server that knows `workerPollCompleteOnShutdown` ends the polls itself;
// with others the SDK's core can leave them some time to come back with what is due, which it reads from the environment when
// a worker is made. Only for workers without workflows: its core drops a workflow task that comes so late.

const NAME = "TEMPORAL_POLL_SHUTDOWN_INTERRUPT_WAIT_MS";
const WAIT_MS = 1_000;

/** A worker that is made meanwhile has patient polls. */
export async function withPatientPolls<T>(make: () => Promise<T>): Promise<T> {
  process.env[NAME] ??= String(WAIT_MS);
  try {
    return await make();
  } finally {
    delete process.env[NAME];
  }
}
