// What the activities of the video identification service work with.
import type { VideoIdentificationAccount } from "../../providers/video-identification/client.js";
import { ProviderContext } from "../runtime/provider-context.js";
import type { AttemptOf, ProviderDependencies } from "../runtime/provider-context.js";

export const provider = "video-identification";

export type VideoDependencies = ProviderDependencies<VideoIdentificationAccount>;

export class VideoContext extends ProviderContext<typeof provider, VideoIdentificationAccount> {
  constructor(deps: VideoDependencies, attempt: AttemptOf) {
    super(provider, deps, attempt);
  }
}
