/** Context that the rules of one part of a pod spec need. */
import { type Fields, has, record, records, str } from '../../apimachinery/fields.ts'

export interface PodScope {
  readonly spec: Fields
  /** Path of the spec, such as `spec.template.spec`. */
  readonly path: string
  /** Some rules are for pods alone: templates were always allowed more. */
  readonly isPod: boolean
  /** Name of the pod; empty for templates. */
  readonly podName: string
  /** Those without faults, by name. */
  readonly volumes: ReadonlyMap<string, Fields>
  /** Names of `resourceClaims`. */
  readonly claims: ReadonlySet<string>
  readonly hostUsers: boolean
  /** Seconds; `undefined` when the spec does not say. */
  readonly gracePeriod: number | undefined
}

export function podScope(
  spec: Fields,
  path: string,
  volumes: ReadonlyMap<string, Fields>,
  pod?: { name: string },
): PodScope {
  const names = records(spec, 'resourceClaims').map(claim => str(claim, 'name'))
  return {
    spec,
    path,
    isPod: pod !== undefined,
    podName: pod?.name ?? '',
    volumes,
    claims: new Set(names.filter(name => name !== '')),
    hostUsers: spec.hostUsers !== false,
    gracePeriod: has(spec, 'terminationGracePeriodSeconds')
      ? (spec.terminationGracePeriodSeconds as number)
      : undefined,
  }
}

/** All containers with their paths, in the order in which upstream visits them. */
export function allContainers(spec: Fields, path: string): (readonly [container: Fields, path: string])[] {
  return ['initContainers', 'containers', 'ephemeralContainers'].flatMap(field =>
    records(spec, field).map((container, i) => [container, `${path}.${field}[${i}]`] as const),
  )
}

export const securityOf = (holder: Fields): Fields => record(holder, 'securityContext')
