/** Secrets of a mailbox that are credentials of its syncer. */
import type { GroupVersionResource, KubeObject } from '../../apimachinery/object.ts'
import type { SpaceClient } from '../../client/client.ts'
import { listAll } from '../../client/listWatch.ts'
import { CLAIM_TYPE, ISSUED_ANNOTATION } from '../../placement/spaces/syncerBootstrap.ts'
import { CREDENTIAL_TYPE, SESSION_NAME, SESSION_TYPE } from '../../placement/spaces/syncerCredential.ts'
import { SYNCER_NAMESPACE } from '../../placement/words/placement.ts'

export const SECRETS: GroupVersionResource = { group: '', version: 'v1', resource: 'secrets' }

/** `waiting`: claims that got nothing; what came while the mailbox had a syncer comes anew, and is approved anew. */
export async function secretsOf(
  mailbox: SpaceClient,
): Promise<{ credentials: KubeObject[]; live: KubeObject | undefined; waiting: KubeObject[] }> {
  const { items } = await listAll(mailbox, SECRETS, { namespace: SYNCER_NAMESPACE, limit: 500 })
  return {
    credentials: items.filter(({ type }) => type === CREDENTIAL_TYPE),
    waiting: items.filter(
      ({ type, metadata }) => type === CLAIM_TYPE && metadata.annotations?.[ISSUED_ANNOTATION] === undefined,
    ),
    live: items.find(({ type, metadata }) => type === SESSION_TYPE && metadata.name === SESSION_NAME),
  }
}
