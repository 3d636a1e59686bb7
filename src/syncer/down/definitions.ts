/**
 * Definitions that came along with custom objects. The cluster may have its own of that name, perhaps a richer one: it stays as it is.
 * Where it does not serve the version of an object, that object reports so.
 */

import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { CRDS } from '../../apimachinery/resources.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import { healthOf } from '../../placement/outcome/health.ts'
import { VERSION_NOT_SERVED } from '../../placement/outcome/outcome.ts'
import { DOWNSYNCED, IMPLIED_ANNOTATION, isProjected } from '../../placement/words/placement.ts'
import type { Refusal } from '../mailbox/clusterAllowance.ts'
import type { SyncKey } from '../mailbox/mirror.ts'
import { isOurs, mayAdopt } from '../objects/marks.ts'
import type { Trouble } from '../tells/outcomes.ts'
import { DEFINITION_NOT_ESTABLISHED } from '../tells/verdicts.ts'
import type { DownsyncContext } from './context.ts'

/** Whether `live` stays as it is: nobody placed `object`, and no syncer made what the cluster has of that name. */
export function keepsClusters(object: Readonly<KubeObject>, live: Readonly<KubeObject>): boolean {
  return isImpliedDefinition(object) && !mayAdopt(object) && !isOurs(live, DOWNSYNCED)
}

/** Whether an object in the mailbox is one. */
function isImpliedDefinition({ metadata }: Readonly<KubeObject>): boolean {
  return metadata.annotations?.[IMPLIED_ANNOTATION] === 'true'
}

interface SentDefinition {
  readonly name: string
  /** The cluster's; `undefined`: it is not there. */
  readonly live: KubeObject | undefined
}

/** The definition of a kind, where the mailbox has it placed. */
async function sentDefinition(
  { cluster, mirror }: Pick<DownsyncContext, 'cluster' | 'mirror'>,
  { group, resource }: SyncKey,
): Promise<SentDefinition | undefined> {
  const name = `${resource}.${group}`
  const sent = mirror.get({ ...CRDS, namespace: '', name })?.object
  if (!sent || !isProjected(sent)) return undefined
  return { name, live: await unlessGone(cluster.get(CRDS, { name })) }
}

/**
 * Reason why a custom object cannot be in a cluster with its own definition of the kind; for versions that may be unserved. `undefined`: it
 * may, or its definition is on its way.
 */
export async function versionRefusal(
  deps: Pick<DownsyncContext, 'cluster' | 'mirror' | 'served'>,
  key: SyncKey,
  version: string,
): Promise<Refusal | undefined> {
  const { name, live } = (await sentDefinition(deps, key)) ?? {}
  if (!live || isOurs(live, DOWNSYNCED)) return undefined
  await deps.served.refresh()
  if (deps.served.at(key, version)?.version === version) return undefined
  const versions = servedVersions(live)
  const serves = versions.length > 0 ? `serves ${versions.join(', ')}, not ${version}` : 'serves no version'
  return {
    reason: VERSION_NOT_SERVED,
    message:
      `waits: the cluster has its own CustomResourceDefinition ${name}, which ${serves}; write the object in a version that ` +
      'it serves, or ask who administers the cluster for another definition',
  }
}

/** Reason for the wait of a custom object whose kind is not served, where its definition is placed, too. */
export async function awaitedDefinition(
  deps: Pick<DownsyncContext, 'cluster' | 'mirror'>,
  key: SyncKey,
): Promise<Trouble | undefined> {
  const sent = await sentDefinition(deps, key)
  if (!sent) return undefined
  const { name, live } = sent
  const { health, message } = live ? healthOf(CRDS, live) : { health: 'Progressing', message: 'it is not there' }
  const why = health === 'Healthy' ? 'it is about to be served' : message
  return {
    state: 'waiting',
    reason: DEFINITION_NOT_ESTABLISHED,
    message: `waits for CustomResourceDefinition ${name} in the cluster: ${why}`,
  }
}

function servedVersions({ spec }: Readonly<KubeObject>): string[] {
  const versions: unknown[] = isRecord(spec) && Array.isArray(spec.versions) ? spec.versions : []
  return versions.flatMap(entry =>
    isRecord(entry) && entry.served === true && typeof entry.name === 'string' ? [entry.name] : [],
  )
}
