/** An informer of what clusters report, keyed by location, too: the merged view has one name in several clusters. The package exports it. */
import type { KubeObject } from '../../apimachinery/object.ts'
import { CLUSTER_ANNOTATION } from '../../apimachinery/resources.ts'
import { LOCATION_LABEL, SILENT_SINCE_ANNOTATION } from '../../placement/words/placement.ts'
import { systemClock } from '../clock.ts'
import { httpSpaceClient } from '../http/httpClient.ts'
import { leadsThroughHost, spacePath } from '../http/paths.ts'
import { type CacheChange, Informer } from '../informer.ts'
import { loadKubeconfig } from '../kubeconfig.ts'
import type { Reported, ReportedChange, ReportedInformerOf, ReportedName, ReportedObject } from './api.ts'

const ALL_SPACES = '*'
const VIEWS = '/services/reported'

export const reportedInformer: ReportedInformerOf = async <T extends ReportedObject>({
  kubeconfig,
  context,
  space,
  group,
  version,
  resource,
  logger,
  ...selection
}: Parameters<ReportedInformerOf>[0]) => {
  const loaded = await loadKubeconfig(kubeconfig, context)
  const read = space ?? loaded.space
  if (read === undefined) throw new Error(`context ${loaded.context} of ${kubeconfig} names no space: set "space"`)
  // the context may name the view itself
  const base = loaded.base.replace(new RegExp(`${VIEWS}$`), '')
  if (base.includes(`${VIEWS}/`))
    throw new Error(`${base} is the view of one location: use the view of its space, or the address of the server`)
  if (leadsThroughHost(base))
    throw new Error(`${base} leads through a host cluster, which has no reports: use the address of the server`)
  const server = `${base}${VIEWS}${spacePath(base, read)}`
  const client = httpSpaceClient({ ...loaded.options, server })
  const keyOf = (name: ReportedName): string =>
    `${read === ALL_SPACES ? name.space : ''}/${name.location}/${name.namespace ?? ''}/${name.name}`
  const informer = new Informer({
    ...selection,
    ...(logger && { logger }),
    clock: systemClock,
    random: Math.random,
    client,
    resource: { group, version, resource },
    keyOf: object => keyOf({ ...object.metadata, ...reportedOf<T>(object), name: object.metadata.name ?? '' }),
  })
  return {
    synced: informer.synced,
    async run(signal: AbortSignal): Promise<void> {
      await informer.run(signal)
      client.close()
    },
    get: (name: ReportedName) => informer.withKey(keyOf(name)) as T | undefined,
    list: () => informer.list().map(object => reportedOf<T>(object)),
    subscribe: (listener: (change: ReportedChange<T>) => void) =>
      informer.subscribe(change => listener(changeOf<T>(change))),
  }
}

function reportedOf<T extends ReportedObject>(object: Readonly<KubeObject>): Reported<T> {
  const {
    [CLUSTER_ANNOTATION]: space = '',
    [LOCATION_LABEL]: location = '',
    [SILENT_SINCE_ANNOTATION]: silentSince,
  } = object.metadata.annotations ?? {}
  return { space, location, ...(silentSince !== undefined && { silentSince }), object: object as unknown as T }
}

function changeOf<T extends ReportedObject>(change: CacheChange): ReportedChange<T> {
  const reported = reportedOf<T>(change.object)
  if (change.type === 'delete') return { ...reported, type: 'deleted' }
  const { previous } = change
  return previous
    ? { ...reported, type: 'updated', previous: previous as unknown as T }
    : { ...reported, type: 'added' }
}
