// Retries a call as the SDK does, which throws out of a timer, and so ends the process, where the connection was closed meanwhile.
import { defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from "@temporalio/client";
import type { ConnectionOptions } from "@temporalio/client";

type Interceptor = NonNullable<ConnectionOptions["interceptors"]>[number];
type Call = ReturnType<Parameters<Interceptor>[1]>;
type Status = Parameters<ReturnType<typeof defaultGrpcRetryOptions>["retryableDecider"]>[1];

/** A call whose retry cannot be sent fails as its last try did. */
export const retryUntilClosed: Interceptor = (options, nextCall) => {
  const { delayFunction, retryableDecider } = defaultGrpcRetryOptions();
  let last: Status | undefined;
  let isClosed = false;
  const retry = makeGrpcRetryInterceptor({
    delayFunction,
    retryableDecider: (attempt, status) => {
      last = status;
      return !isClosed && retryableDecider(attempt, status);
    },
  });
  return retry(options, (again) => {
    try {
      return nextCall(again);
    } catch (error) {
      // The first try throws to its caller.
      if (!last) throw error;
      isClosed = true;
      return failed(last);
    }
  });
};

/** A call that is not sent, with as much of it as a retry uses. */
function failed(status: Status): Call {
  const call: Pick<Call, "start" | "sendMessage" | "halfClose"> = {
    start: (_, listener) => process.nextTick(() => listener?.onReceiveStatus?.(status)),
    sendMessage: () => undefined,
    halfClose: () => undefined,
  };
  return call as Call;
}
