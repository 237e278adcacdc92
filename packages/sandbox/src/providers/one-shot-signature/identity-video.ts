// The identity-video sub-flow (P1 §1.4; paths, shapes and order are assumed: not shown).
import { createHash } from "node:crypto";
import { jsonAnswer, type Answer } from "../../exchange/answer.js";
import { isObject } from "../../exchange/checker.js";
import type { Call, Operation } from "../../exchange/operation.js";
import { takeFiles } from "./document-operations.js";
import { invalid, notFound, wrongState } from "../../exchange/refusal.js";
import { requestOperation, type OperationName } from "./request-operation.js";
import type {
  IdentityVideo,
  SignatureRequest,
  SigningService,
  VideoState,
} from "./signing-service.js";

type Act = (request: SignatureRequest, video: IdentityVideo, call: Call) => Answer;
const view = ({ state }: IdentityVideo): Answer => jsonAnswer(200, { state });

export function identityVideoOperations(signing: SigningService): Operation[] {
  function create(request: SignatureRequest, { body, at }: Call): Answer {
    const { identityVideo: video } = request;
    if (request.state !== "created") return wrongState(`the request is ${request.state}`);
    if (video && video.state !== "cancelled") return wrongState("there is one already");
    if (body !== undefined && !isObject(body)) return invalid("the body must be a JSON object");
    const created: IdentityVideo = { state: "created", fields: body ?? {}, evidences: [] };
    request.identityVideo = created;
    signing.effect("createIdentityVideo", request, at);
    return view(created);
  }

  function get({ identityVideo: video }: SignatureRequest): Answer {
    return video ? view(video) : notFound("identity video");
  }

  /** Only while the video is in one of these states. */
  const during =
    (states: VideoState[], act: Act) =>
    (request: SignatureRequest, call: Call): Answer => {
      const { identityVideo: video } = request;
      if (!video) return notFound("identity video");
      if (request.state !== "created") return wrongState(`the request is ${request.state}`);
      if (!states.includes(video.state)) return wrongState(`the identity video is ${video.state}`);
      return act(request, video, call);
    };

  const uploadEvidences: Act = (request, video, call) => {
    const files = takeFiles(signing, call);
    if (!Array.isArray(files)) return files;
    for (const file of files) {
      video.evidences.push(file);
      signing.effect("uploadEvidences", request, call.at, file.name);
    }
    signing.enterVideo(request, "evidences", call.at);
    return view(video);
  };

  const uploadVideo: Act = (request, video, call) => {
    const files = takeFiles(signing, call);
    if (!Array.isArray(files)) return files;
    const [file, ...more] = files;
    if (!file || more.length > 0) return invalid("file: one video");
    video.video = file;
    signing.effect("uploadVideo", request, call.at);
    signing.enterVideo(request, "video", call.at);
    return view(video);
  };

  const decide =
    (state: "approved" | "cancelled"): Act =>
    (request, video, { at }) => {
      const operation = state === "approved" ? "approveIdentityVideo" : "cancelIdentityVideo";
      signing.effect(operation, request, at);
      signing.enterVideo(request, state, at);
      return view(video);
    };

  const update: Act = (request, video, { body, at }) => {
    if (!isObject(body)) return invalid("the body must be a JSON object");
    Object.assign(video.fields, body);
    // Two different updates are no repeats of each other.
    const digest = createHash("sha256").update(JSON.stringify(body)).digest("hex");
    signing.effect("updateIdentityVideo", request, at, digest);
    return view(video);
  };

  const path = "identity-video/:request_pk";
  const open: VideoState[] = ["created", "evidences", "video"];
  const post = (name: OperationName, end: string, states: VideoState[], act: Act) =>
    requestOperation(signing, name, "POST", `${path}/${end}`, during(states, act));
  return [
    requestOperation(signing, "createIdentityVideo", "POST", path, create),
    post("uploadEvidences", "evidences", ["created", "evidences"], uploadEvidences),
    post("uploadVideo", "video", ["evidences"], uploadVideo),
    post("approveIdentityVideo", "approve", ["video"], decide("approved")),
    post("cancelIdentityVideo", "cancel", open, decide("cancelled")),
    requestOperation(signing, "getIdentityVideo", "GET", path, get),
    requestOperation(signing, "updateIdentityVideo", "PATCH", path, during(open, update)),
  ];
}
