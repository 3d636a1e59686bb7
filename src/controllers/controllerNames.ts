/** The names of the controllers, and which of them a server runs. Controllers that kube-controller-manager has too bear its names. */

export const CONTROLLER_NAMES = [
  'certificatesigningrequest-signing-controller',
  'clusterrole-aggregation-controller',
  'event-ttl-controller',
  'garbage-collector-controller',
  'namespace-controller',
  'notice-controller',
  'placement',
  'replicaset-stand-in-controller',
  'resourcequota-controller',
  'serviceaccount-controller',
  'storage-protection-controller',
] as const

export type ControllerName = (typeof CONTROLLER_NAMES)[number]

/** Parts of the controller `placement`, as logs and metrics name their queues. None is of use without the others. */
export const PLACEMENT_PARTS = [
  'where-resolver',
  'mailbox-controller',
  'syncer-liveness-controller',
  'placement-translator',
] as const

export type QueueName = Exclude<ControllerName, 'placement'> | (typeof PLACEMENT_PARTS)[number]

export function queuesOf(controller: ControllerName): readonly QueueName[] {
  return controller === 'placement' ? PLACEMENT_PARTS : [controller]
}

/** Names of kube-controller-manager before 1.28, which it still takes. */
const FORMER_NAMES: Readonly<Record<string, ControllerName>> = {
  'clusterrole-aggregation': 'clusterrole-aggregation-controller',
  csrsigning: 'certificatesigningrequest-signing-controller',
  garbagecollector: 'garbage-collector-controller',
  namespace: 'namespace-controller',
  resourcequota: 'resourcequota-controller',
  serviceaccount: 'serviceaccount-controller',
}

const ALL = '*'

/**
 * Reads a list as of the flag `--controllers`: `*` is all, `foo` the controller foo, `-foo` all but it. The first word about a
 * controller counts; of one that the list does not name `*` decides, wherever it stands.
 * @throws Error naming what is no controller
 */
export function chosenControllers(list: readonly string[]): ReadonlySet<ControllerName> {
  const named = new Map<ControllerName, boolean>()
  for (const word of list) {
    if (word === ALL) continue
    const without = word.startsWith('-')
    const name = known(without ? word.slice(1) : word)
    if (!named.has(name)) named.set(name, !without)
  }
  return new Set(CONTROLLER_NAMES.filter(name => named.get(name) ?? list.includes(ALL)))
}

function known(word: string): ControllerName {
  const name = FORMER_NAMES[word] ?? CONTROLLER_NAMES.find(name => name === word)
  if (name) return name
  if (PLACEMENT_PARTS.some(part => part === word))
    throw new Error(
      `${JSON.stringify(word)} is a part of the controller "placement", and runs with it alone: name "placement"`,
    )
  throw new Error(
    `${JSON.stringify(word)} is not in the list of known controllers: ${CONTROLLER_NAMES.join(', ')}; "*" is all of them, ` +
      `"-${CONTROLLER_NAMES[0]}" all but that one`,
  )
}
