// The crash points of `issueCertificate` (docs/design.md §6).
import { testEveryCrashPoint } from "../../harness/crashes/promise.js";
import { issueCertificateUnderTest } from "../../processes/issue-certificate/under-test.js";

testEveryCrashPoint(issueCertificateUnderTest);
