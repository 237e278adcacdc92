// Finds the time-skipping test server, or gets it once: from Temporal's own download, else from Maven behind a script.
// Use it as `createTimeSkipping({ server: { executable: { type: "existing-path", path } } })`.
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { withLock } from "../processes/lock.js";
import { cacheDirectory } from "../paths.js";
import { downloadBySdk, downloadedBySdk } from "./sdk-download.js";
import { isExecutable, findOnPath, type Progress, run } from "../processes/tools.js";

const VERSION = "1.32.0";
const MAVEN_LIMIT_MS = 10 * 60_000;

const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId>
  <artifactId>test-server</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>io.temporal</groupId>
      <artifactId>temporal-test-server</artifactId>
      <version>${VERSION}</version>
    </dependency>
  </dependencies>
</project>
`;

// The SDK starts it as a direct child; it must not outlive a test process that dies without closing it.
const wrapper = `#!/bin/sh
parent=$PPID
(while kill -0 "$parent"; do kill -0 $$ || exit; sleep 1; done; kill -9 $$) </dev/null >/dev/null 2>&1 &
exec java -cp "$(dirname "$0")/lib/*" io.temporal.testserver.TestServer "$@"
`;

export async function findTestServer(progress: Progress = () => {}): Promise<string> {
  const named = process.env["TEMPORAL_TEST_SERVER_PATH"];
  if (named) {
    if (await isExecutable(named)) return named;
    throw new Error(`TEMPORAL_TEST_SERVER_PATH: "${named}" cannot be run`);
  }
  const script = join(cacheDirectory(), `temporal-test-server-${VERSION}`, "temporal-test-server");
  const cached = async (): Promise<string | undefined> =>
    (await isExecutable(script)) ? script : downloadedBySdk("createTimeSkipping", isExecutable);
  return (
    (await cached()) ??
    withLock(
      join(cacheDirectory(), "test-server.lock"),
      async () => {
        const found =
          (await cached()) ?? (await downloadBySdk("createTimeSkipping", isExecutable, progress));
        if (found === undefined) await fetchByMaven(script, progress);
        return found ?? script;
      },
      () => progress("waiting for another run that is getting the time-skipping test server"),
    )
  );
}

async function fetchByMaven(script: string, progress: Progress): Promise<void> {
  const [mvn, java] = await Promise.all([findOnPath("mvn"), findOnPath("java")]);
  if (mvn === undefined || java === undefined) {
    throw new Error(
      "cannot download the time-skipping test server, and Maven or Java is not installed to get it. " +
        "Install both, or set TEMPORAL_TEST_SERVER_PATH to the server, then try again",
    );
  }
  const cache = dirname(dirname(script));
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, "fetching-"));
  try {
    await writeFile(join(folder, "pom.xml"), pom);
    await writeFile(join(folder, "temporal-test-server"), wrapper, { mode: 0o755 });
    const { ok, output } = await run(
      mvn,
      ["-q", "-B", "-f", "pom.xml", "dependency:copy-dependencies", "-DoutputDirectory=lib"],
      {
        cwd: folder,
        timeoutMs: MAVEN_LIMIT_MS,
        doing: "getting the time-skipping test server with Maven; this happens once",
        progress,
      },
    );
    const jars = await readdir(join(folder, "lib")).catch(() => []);
    if (!ok || jars.length === 0) {
      throw new Error(
        `getting the time-skipping test server with Maven failed\n${output.slice(-2_000)}`,
      );
    }
    await rm(dirname(script), { recursive: true, force: true });
    await rename(folder, dirname(script));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
