// The activities by their task queue, which has the name of their provider (docs/design.md §12). The worker serves these; workflows take
// the types, so that a step at another provider's queue does not compile.
import type { Provider } from "../providers/registry.js";
import type { BatchItems } from "../batch/items/items.js";
import type { ArchiveParts } from "../batch/items/parts.js";
import { createWalletActivities } from "./credential-wallet/index.js";
import { createCertificateActivities } from "./disposable-certificate/index.js";
import { createEnvelopeActivities } from "./envelope-signature/index.js";
import { createBatchActivities } from "./evi-notice-batch/index.js";
import { createEviNoticeActivities } from "./evi-notice/index.js";
import { createEviPostActivities } from "./evi-post/index.js";
import { createMessagingActivities } from "./messaging-gateway/index.js";
import { createOneShotActivities } from "./one-shot-signature/index.js";
import type { ProviderDependencies } from "./runtime/provider-context.js";
import { createServeNoticeActivities, createServePostActivities } from "./serve-notice/index.js";
import { createVideoActivities } from "./video-identification/index.js";

export type DependenciesOf = <P extends Provider>(provider: P) => ProviderDependencies<P>;

export function activitiesByQueue(
  of: DependenciesOf,
  kept: { items: BatchItems; parts: ArchiveParts },
) {
  const post = of("evi-post");
  const notice = of("evi-notice");
  const batch = createBatchActivities({ ...notice, ...kept });
  const { deleteBatch, requestBatchAffidavit } = batch;
  const ofProviders = {
    "evi-post": { ...createEviPostActivities(post), ...createServePostActivities(post) },
    "evi-notice": {
      ...createEviNoticeActivities(notice),
      ...createServeNoticeActivities(notice),
      // An update waits for them.
      ...{ deleteBatch, requestBatchAffidavit },
    },
    "disposable-certificate": createCertificateActivities(of("disposable-certificate")),
    "messaging-gateway": createMessagingActivities(of("messaging-gateway")),
    "one-shot-signature": createOneShotActivities(of("one-shot-signature")),
    "envelope-signature": createEnvelopeActivities(of("envelope-signature")),
    "credential-wallet": createWalletActivities(of("credential-wallet")),
    "video-identification": createVideoActivities(of("video-identification")),
  } satisfies Record<Provider, object>;
  // Its attempts may last for hours: they take no place from updates and single notices, which answer within seconds.
  return { ...ofProviders, "evi-notice-batch": batch };
}

export type Queues = ReturnType<typeof activitiesByQueue>;
export type Queue = keyof Queues;
