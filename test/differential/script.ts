/**
 * Request scripts: requests to two servers, as data. Every string of a step may hold `{name}`. `{ns}` is the namespace that the runner made
 * for the script, other names are values that earlier steps saved.
 */
export interface Step {
  method: string
  path: string
  body?: unknown
  /** Content-Type; default: JSON. */
  type?: string
  headers?: Record<string, string>
  /** Asks as this user (impersonated) instead of the administrator. */
  as?: string
  /** Name to the path in the answer's body whose value later steps may use. */
  save?: Record<string, string>
  /** Follows a watch for this many events, then leaves. */
  watch?: number
  /** Follows a watch up to the first event whose JSON has this text; how many there are on the way is not compared. */
  until?: string
  /** Repeated until the answer has this code: a peer may take a moment to act upon an earlier step. */
  late?: number
  /** Only these paths of the body count. */
  only?: readonly string[]
  /**
   * Where and why kube-apiserver 1.20 answers otherwise: today's answer is ours. Keys are beginnings of paths of an outcome
   * (`code`, `body.spec`, `` for all of it); `*` stands for one name or index. Those that begin
   * with `?` may turn out to explain nothing; others may not.
   */
  unlike120?: Readonly<Record<string, string>>
  /** Reason why kube-apiserver 1.20 does not get it at all: its answer would change the later steps, or never end. */
  since?: string
  /** As `unlike120`, about Kubernetes as it is today: Orrery means to answer otherwise. */
  unlikeToday?: Readonly<Record<string, string>>
}

export type Peer = 'kube-apiserver' | 'apiextensions'

export interface Script {
  /** Also the name of its recording. */
  name: string
  /** True when managedFields are what the script is about; elsewhere they are left out. */
  managedFields?: boolean
  /**
   * Peers of the step: kube-apiserver 1.20 (the default), the apiextensions-apiserver of today, or both. The latter knows
   * CustomResourceDefinitions and the objects of them, nothing else.
   */
  peers?: readonly Peer[]
  steps: readonly Step[]
}

export type Rest = Omit<Step, 'method' | 'path' | 'body' | 'type'>

export const MERGE = 'application/merge-patch+json'
export const JSON_PATCH = 'application/json-patch+json'
export const STRATEGIC = 'application/strategic-merge-patch+json'
export const APPLY = 'application/apply-patch+yaml'
export const TABLE = { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
export const PARTIAL = { Accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' }
export const PARTIAL_LIST = { Accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' }

export const get = (path: string, rest: Rest = {}): Step => ({ method: 'GET', path, ...rest })
export const table = (path: string, rest: Rest = {}): Step => get(path, { headers: TABLE, ...rest })
export const watch = (path: string, count: number, rest: Rest = {}): Step => get(path, { watch: count, ...rest })
export const post = (path: string, body: unknown, rest: Rest = {}): Step => ({ method: 'POST', path, body, ...rest })
export const put = (path: string, body: unknown, rest: Rest = {}): Step => ({ method: 'PUT', path, body, ...rest })
export const del = (path: string, body?: unknown, rest: Rest = {}): Step => ({
  method: 'DELETE',
  path,
  ...(body !== undefined && { body }),
  ...rest,
})
const patch =
  (type: string) =>
  (path: string, body: unknown, rest: Rest = {}): Step => ({ method: 'PATCH', path, body, type, ...rest })
export const merge = patch(MERGE)
export const json = patch(JSON_PATCH)
export const strategic = patch(STRATEGIC)
export const apply = patch(APPLY)

/** The whole answer differs. */
export const unlike = (why: string): Rest => ({ unlike120: { '': why } })

/** The same refusal with other words for its causes, and so for its message. */
export const unlikeWords = (why: string): Rest => ({ unlike120: { 'body.details.causes': why, '?body.message': why } })

/** Steps of a script by their numbers, with the parts of their answers that differ. */
export interface Parts {
  steps: readonly number[]
  parts: readonly string[]
}

export const inPart = (parts: readonly string[], ...steps: number[]): Parts => ({ steps, parts })
/** The same refusal in other words. */
export const inWords = (...steps: number[]): Parts => inPart(['body.message', '?body.details'], ...steps)

/**
 * Steps of which some have other answers than today's server, by reason. Numbers are of those that differ as a whole, and of those that
 * differ in part.
 */
export function noted(steps: readonly Step[], reasons: Readonly<Record<string, readonly (number | Parts)[]>>): Step[] {
  const unlike = new Map<number, Record<string, string>>()
  for (const [reason, entries] of Object.entries(reasons)) {
    for (const entry of entries) {
      const { steps, parts } = typeof entry === 'number' ? { steps: [entry], parts: [''] } : entry
      for (const i of steps) unlike.set(i, Object.fromEntries(parts.map(part => [part, reason])))
    }
  }
  return steps.map((step, i) => (unlike.has(i) ? { ...step, unlikeToday: unlike.get(i)! } : step))
}

/** Title of a step, for people; several may do the same. */
export function titleOf(step: Step): string {
  const kind = step.type?.replace(/^application\/(.*?)(-patch)?\+.*$/, ' ($1)') ?? ''
  return `${step.method}${kind} ${step.path}${step.as ? ` as ${step.as}` : ''}`
}
