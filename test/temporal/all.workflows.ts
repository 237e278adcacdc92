// The workflows of the tests that share one bundle (testBundle).
export * from "../client/newest-read.workflows.js";
export * from "../client/status.workflows.js";
export * from "../histories/floor.workflows.js";
export * from "./canary.workflows.js";
export * from "./codec/stranger.workflows.js";
export * from "./queries/unprocessed-update.workflows.js";
export * from "./visibility/looked-at.workflows.js";
export * from "./worker-watch.workflows.js";
