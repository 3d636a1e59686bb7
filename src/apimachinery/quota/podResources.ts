/**
 * Request of a whole Pod: containers run together, init containers one after the other beside the sidecars before them.
 * @see https://kubernetes.io/docs/concepts/workloads/pods/init-containers/#resource-sharing-within-containers
 */
import { objects } from '../fields.ts'
import { isRecord, type KubeObject } from '../object.ts'
import { addQuantities, compareQuantities, type Quantity } from '../quantity.ts'
import { amountsOf, ZERO } from './resourceList.ts'

type Fields = Record<string, unknown>

interface NamedContainer {
  name: string
  requests: Map<string, Quantity>
  limits: Map<string, Quantity>
}

/** Names of the counted resources: all by default. */
type Names = { has(name: string): boolean }

export function containersOf(pod: KubeObject, field: 'containers' | 'initContainers'): NamedContainer[] {
  const spec = isRecord(pod.spec) ? pod.spec : {}
  const containers = objects(spec[field])
  return containers.map(container => {
    const resources = resourcesOf(container)
    return {
      name: String(container.name ?? ''),
      requests: amountsOf(resources.requests),
      limits: amountsOf(resources.limits),
    }
  })
}

/**
 * With the overhead of its runtime, where that is known; what the pod says as a whole goes before the sum. A pod may have a thousand
 * containers with amounts that no other has: what they come to is gathered, never copied for each.
 */
export function podAmounts(pod: KubeObject, of: 'requests' | 'limits', names?: Names): Map<string, Quantity> {
  const spec: Fields = isRecord(pod.spec) ? pod.spec : {}
  const amounts = (container: Fields) => amountsOf(resourcesOf(container)[of], names)
  const sidecars = new Map<string, Quantity>()
  const starting = new Map<string, Quantity>()
  for (const container of objects(spec.initContainers)) {
    const isSidecar = container.restartPolicy === 'Always'
    // what is not in this container was compared before
    for (const [name, quantity] of amounts(container)) {
      const together = addQuantities(sidecars.get(name) ?? ZERO, quantity)
      if (isSidecar) sidecars.set(name, together)
      raiseTo(starting, name, together)
    }
  }
  const total = new Map(sidecars)
  for (const container of objects(spec.containers)) {
    for (const [name, quantity] of amounts(container)) addTo(total, name, quantity)
  }
  for (const [name, quantity] of starting) raiseTo(total, name, quantity)
  const whole = amountsOf(resourcesOf(spec)[of], names)
  for (const [name, quantity] of whole) total.set(name, quantity)
  for (const [name, quantity] of amountsOf(spec.overhead, names)) {
    // a pod without a limit stays without one
    if (of === 'requests' || total.has(name)) addTo(total, name, quantity)
  }
  return total
}

function resourcesOf({ resources }: Fields): Fields {
  return isRecord(resources) ? resources : {}
}

function addTo(amounts: Map<string, Quantity>, name: string, more: Quantity): void {
  amounts.set(name, addQuantities(amounts.get(name) ?? ZERO, more))
}

function raiseTo(amounts: Map<string, Quantity>, name: string, least: Quantity): void {
  const known = amounts.get(name)
  if (known === undefined || compareQuantities(least, known) > 0) amounts.set(name, least)
}
