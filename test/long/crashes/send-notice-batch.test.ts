// The crash points of `sendNoticeBatch` (docs/design.md §6).
import { testEveryCrashPoint } from "../../harness/crashes/promise.js";
import { sendNoticeBatchUnderTest } from "../../processes/send-notice-batch/under-test.js";

testEveryCrashPoint(sendNoticeBatchUnderTest);
