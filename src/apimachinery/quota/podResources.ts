/**
 * What a whole Pod asks for: containers run together, init containers one after the other beside the sidecars before them.
 * @see https://kubernetes.io/docs/concepts/workloads/pods/init-containers/#resource-sharing-within-containers
 */
import { objects } from '../fields.ts'
import { isRecord, type KubeObject } from '../object.ts'
import type { Quantity } from '../quantity.ts'
import { addAmounts, amountsOf, maxAmounts } from './resourceList.ts'

type Fields = Record<string, unknown>

export interface NamedContainer {
  name: string
  requests: Map<string, Quantity>
  limits: Map<string, Quantity>
  /** An init container that keeps running. */
  sidecar: boolean
}

export function containersOf(pod: KubeObject, field: 'containers' | 'initContainers'): NamedContainer[] {
  const spec = isRecord(pod.spec) ? pod.spec : {}
  const containers = objects(spec[field])
  return containers.map(container => {
    const resources: Fields = isRecord(container.resources) ? container.resources : {}
    return {
      name: String(container.name ?? ''),
      requests: amountsOf(resources.requests),
      limits: amountsOf(resources.limits),
      sidecar: field === 'initContainers' && container.restartPolicy === 'Always',
    }
  })
}

/** With the overhead of its runtime, where that is known; what the pod says as a whole goes before the sum. */
export function podAmounts(pod: KubeObject, of: 'requests' | 'limits'): Map<string, Quantity> {
  const spec: Fields = isRecord(pod.spec) ? pod.spec : {}
  let sidecars = new Map<string, Quantity>()
  let starting = new Map<string, Quantity>()
  for (const container of containersOf(pod, 'initContainers')) {
    if (container.sidecar) {
      sidecars = addAmounts(sidecars, container[of])
      starting = maxAmounts(starting, sidecars)
    } else starting = maxAmounts(starting, addAmounts(sidecars, container[of]))
  }
  const running = containersOf(pod, 'containers').reduce((sum, container) => addAmounts(sum, container[of]), sidecars)
  let total = maxAmounts(running, starting)
  const whole = isRecord(spec.resources) ? amountsOf(spec.resources[of]) : new Map<string, Quantity>()
  total = new Map([...total, ...whole])
  for (const [name, quantity] of amountsOf(spec.overhead)) {
    // a pod without a limit stays without one
    if (of === 'requests' || total.has(name)) total = addAmounts(total, new Map([[name, quantity]]))
  }
  return total
}
