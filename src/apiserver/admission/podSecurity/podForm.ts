/** A pod, or a pod template, as the checks of the Pod Security Standards look at it, and the phrases that they share. */
import { type Fields, record, records, str } from '../../../apimachinery/fields.ts'

export interface PodForm {
  readonly annotations: Readonly<Record<string, string>>
  readonly spec: Fields
  /** The pod's own security context; empty when there is none. */
  readonly context: Fields
  /** Init containers, containers, ephemeral containers. */
  readonly containers: readonly ContainerForm[]
}
export interface ContainerForm {
  readonly name: string
  readonly fields: Fields
  /** Its security context; empty when there is none. */
  readonly context: Fields
}

/** `holder` has `metadata` and `spec`, as pods and templates have. */
export function podForm(holder: unknown): PodForm {
  const spec = record(holder, 'spec')
  const containers = ['initContainers', 'containers', 'ephemeralContainers'].flatMap(field => records(spec, field))
  return {
    annotations: record(holder, 'metadata', 'annotations') as Record<string, string>,
    spec,
    context: record(spec, 'securityContext'),
    containers: containers.map(fields => ({
      name: str(fields, 'name'),
      fields,
      context: record(fields, 'securityContext'),
    })),
  }
}

export const isWindows = (pod: PodForm): boolean => str(pod.spec, 'os', 'name') === 'windows'
/** The pod's users are nobody on its node. */
export const hasOwnUsers = (pod: PodForm): boolean => pod.spec.hostUsers === false

export function quoted(values: Iterable<string>): string {
  return [...values].map(value => `"${value}"`).join(', ')
}

export function sorted(values: Iterable<string>): string[] {
  return [...new Set(values)].sort()
}

/** `container "a"`, `containers "a", "b"`. */
export function counted(noun: string, names: readonly string[]): string {
  return `${plural(names.length, noun)} ${quoted(names)}`
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return count === 1 ? one : many
}

/** `pod and containers "a", "b"`; `''` when nobody did it. */
export function culprits(pod: boolean, containers: readonly string[]): string {
  return [...(pod ? ['pod'] : []), ...(containers.length > 0 ? [counted('container', containers)] : [])].join(' and ')
}

/** Names of the containers that a rule finds fault with. */
export function faulty({ containers }: PodForm, isFaulty: (container: ContainerForm) => boolean): string[] {
  return containers.filter(isFaulty).map(({ name }) => name)
}
