// The crash points of `sendPostal` (docs/design.md §6).
import { testEveryCrashPoint } from "../../harness/crashes/promise.js";
import { sendPostalUnderTest } from "../../processes/send-postal/under-test.js";

testEveryCrashPoint(sendPostalUnderTest);
