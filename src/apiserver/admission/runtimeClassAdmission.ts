/**
 * A Pod with a RuntimeClass goes to the nodes that have the runtime, and carries its overhead; nobody else does.
 * @see https://kubernetes.io/docs/concepts/containers/runtime-class/
 */

import { ensure, type Fields, has, record, records, str } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { compareQuantities, parseQuantity } from '../../apimachinery/quantity.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import type { Admission, AdmissionRequest } from '../registry/admission.ts'
import { keyOf } from '../registry/keys.ts'
import { mergeTolerations } from './mergeTolerations.ts'
import { isPod, type PodAdmissionDeps, refusePod } from './podAdmission.ts'

const RUNTIME_CLASSES = { group: 'node.k8s.io', resource: 'runtimeclasses' }

export function runtimeClassAdmission({ store, parsed }: Pick<PodAdmissionDeps, 'store' | 'parsed'>): Admission[] {
  const handles: Admission['handles'] = (type, operation, subresource) =>
    operation === 'CREATE' && isPod(type, subresource)
  /** `undefined` for a Pod without one. @throws StatusError Forbidden when there is no such class */
  const classOf = async (request: AdmissionRequest): Promise<Readonly<KubeObject> | undefined> => {
    const { object, context } = request
    if (!has(object, 'spec', 'runtimeClassName')) return undefined
    const name = str(object, 'spec', 'runtimeClassName')
    const stored = name === '' ? undefined : await store.get(keyOf(context.space, RUNTIME_CLASSES, '', name))
    if (stored === undefined) throw refusePod(request, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`)
    return parsed.get(stored)
  }
  return [
    {
      stage: 'mutate',
      fillsIn: true,
      handles,
      async admit(request) {
        const found = await classOf(request)
        if (found === undefined) return
        const spec = ensure(request.object, 'spec')
        if (has(found, 'overhead')) {
          const overhead = record(found, 'overhead', 'podFixed')
          requireOverhead(request, spec, overhead)
          if (Object.keys(overhead).length > 0) spec.overhead = cloneJson(overhead)
        }
        if (has(found, 'scheduling')) schedule(request, spec, record(found, 'scheduling'))
      },
    },
    {
      // a webhook may have put one there since
      stage: 'validate',
      handles,
      async admit(request) {
        const spec = record(request.object, 'spec')
        if (Object.keys(record(spec, 'overhead')).length === 0) return
        const found = await classOf(request)
        if (!has(found, 'overhead'))
          throw refusePod(request, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead')
        requireOverhead(request, spec, record(found, 'overhead', 'podFixed'))
      },
    },
  ]
}

/** A Pod's overhead must be that of its class. */
function requireOverhead(request: AdmissionRequest, spec: Fields, wanted: Fields): void {
  const given = record(spec, 'overhead')
  if (Object.keys(given).length === 0 || sameAmounts(given, wanted)) return
  throw refusePod(request, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
}

function sameAmounts(a: Fields, b: Fields): boolean {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every(name => sameAmount(a[name], b[name]))
}

/** However they are written. */
function sameAmount(a: unknown, b: unknown): boolean {
  const [first, second] = [parseQuantity(String(a)), parseQuantity(String(b))]
  return first !== undefined && second !== undefined && compareQuantities(first, second) === 0
}

/** Narrows the nodes, and bears their taints. */
function schedule(request: AdmissionRequest, spec: Fields, scheduling: Fields): void {
  const wanted = record(scheduling, 'nodeSelector')
  const own = record(spec, 'nodeSelector')
  for (const key of Object.keys(wanted)) {
    if (!Object.hasOwn(own, key) || own[key] === wanted[key]) continue
    const why = `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${wanted[key]}; pod.spec.nodeSelector[${key}] = ${own[key]}`
    throw refusePod(request, why)
  }
  if (Object.keys(wanted).length > 0) spec.nodeSelector = { ...own, ...wanted }
  const tolerations = mergeTolerations(records(spec, 'tolerations'), records(scheduling, 'tolerations'))
  if (tolerations.length > 0) spec.tolerations = cloneJson(tolerations)
}
