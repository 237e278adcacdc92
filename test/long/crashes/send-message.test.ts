// The crash points of `sendMessage` (docs/design.md §6).
import { testEveryCrashPoint } from "../../harness/crashes/promise.js";
import { sendMessageUnderTest } from "../../processes/send-message/under-test.js";

testEveryCrashPoint(sendMessageUnderTest);
