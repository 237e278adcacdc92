// The crash points of `serveNotice`: the submits of the two processes that it starts (docs/design.md §6, docs/decisions/0031).
import { testEveryCrashPoint } from "../../harness/crashes/promise.js";
import { serveNoticeUnderTest } from "../../processes/serve-notice/under-test.js";

testEveryCrashPoint(serveNoticeUnderTest);
