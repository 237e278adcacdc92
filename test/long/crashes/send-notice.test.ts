// The crash points of `sendNotice` (docs/design.md §6).
import { testEveryCrashPoint } from "../../harness/crashes/promise.js";
import { sendNoticeUnderTest } from "../../processes/send-notice/under-test.js";

testEveryCrashPoint(sendNoticeUnderTest);
