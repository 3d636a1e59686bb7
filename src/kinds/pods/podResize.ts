/**
 * `pods/resize`: changes what the containers of a running pod ask for, and nothing else.
 * @see https://kubernetes.io/docs/tasks/configure-pod-container/resize-container-resources/
 */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { type Fields, has, list, record, records, str } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { cloneJson, sameMeaning } from '../../apimachinery/values.ts'
import type { SubresourceStrategy } from '../strategy.ts'
import { qosClass } from './podDefaults.ts'
import { MIRROR, restore } from './podUpdate.ts'

const LISTS = ['containers', 'initContainers'] as const
const RESIZABLE = ['resources', 'resizePolicy'] as const
const AMOUNTS = ['cpu', 'memory']

export const podResize: SubresourceStrategy = {
  prepareForUpdate(pod, old) {
    const [now, before] = [record(pod, 'spec'), record(old, 'spec')]
    // added and removed containers are for the validation to see
    if (LISTS.some(field => list(now, field).length !== list(before, field).length)) return
    const spec = cloneJson(before)
    for (const field of LISTS) {
      const containers = records(now, field)
      if (containers.length > 0) spec[field] = resized(containers, records(spec, field))
    }
    restore(spec, now, 'resources')
    pod.spec = spec
    if (old.status === undefined) delete pod.status
    else pod.status = old.status
    keepMetadata(pod, old)
  },
  validateUpdate: validateResize,
  narrow(configuration) {
    const spec = record(configuration, 'spec')
    const narrowed: Fields = {}
    for (const field of LISTS) {
      if (has(spec, field)) narrowed[field] = records(spec, field).map(c => only(c, ['name', ...RESIZABLE]))
    }
    restore(narrowed, spec, 'resources')
    configuration.spec = narrowed
  },
}

/** A sub-resource leaves the metadata alone; who manages what is the registry's business. */
export function keepMetadata(object: KubeObject, old: KubeObject): void {
  const { managedFields } = object.metadata
  object.metadata = { ...cloneJson(old.metadata), ...(managedFields && { managedFields }) }
}

function resized(now: readonly Fields[], before: Fields[]): readonly Fields[] {
  // so are renamed ones
  if (now.some((container, i) => container.name !== before[i]!.name)) return now
  return before.map((container, i) => {
    for (const field of RESIZABLE) restore(container, now[i]!, field)
    return container
  })
}

function only(object: Fields, fields: readonly string[]): Fields {
  return Object.fromEntries(fields.filter(field => object[field] !== undefined).map(field => [field, object[field]]))
}

function validateResize(pod: KubeObject, old: KubeObject): FieldError[] {
  const [now, before] = [record(pod, 'spec'), record(old, 'spec')]
  if (old.metadata.annotations?.[MIRROR] !== undefined) return [wholly('static pods cannot be resized')]
  if (str(before, 'os', 'name') === 'windows') return [wholly('windows pods cannot be resized')]
  const errors: FieldError[] = []
  const quality = str(old, 'status', 'qosClass') || qosClass(before)
  if (quality !== qosClass(now)) {
    const detail = 'Pod QOS Class may not change as a result of resizing'
    errors.push(fieldError.invalid('spec', str(pod, 'status', 'qosClass'), detail))
  }
  if (!nodeCanResize(old)) errors.push(fieldError.forbidden('spec', 'Pod running on node without support for resize'))
  const order = orderErrors(now, before)
  if (order.length > 0) return [...errors, ...order]
  for (const field of ['initContainers', 'containers'] as const) {
    const olds = records(before, field)
    for (const [i, container] of records(now, field).entries()) {
      if (field === 'containers' || isSidecar(container)) {
        errors.push(...removals(container, olds[i]!, `spec.${field}[${i}].resources`))
      }
    }
  }
  errors.push(...removals(now, before, 'spec.resources'), ...otherChanges(now, before))
  return errors
}

/** Error for the pod as a whole; upstream writes its empty path so. */
export function wholly(detail: string): FieldError {
  return fieldError.forbidden('[]', detail)
}

/** A node that knows resizing reports what its containers have. */
function nodeCanResize(pod: KubeObject): boolean {
  const running = records(pod, 'status', 'containerStatuses').find(status => has(status, 'state', 'running'))
  return running === undefined || has(running, 'resources')
}

function orderErrors(now: Fields, before: Fields): FieldError[] {
  return LISTS.flatMap(field => {
    const [next, last] = [records(now, field), records(before, field)]
    if (next.length !== last.length) {
      return [fieldError.forbidden(`spec.${field}`, `${field} may not be added or removed on resize`)]
    }
    return [...next.entries()]
      .filter(([i, container]) => container.name !== last[i]!.name)
      .map(([i]) => {
        return fieldError.forbidden(`spec.${field}[${i}].name`, `${field} may not be renamed or reordered on resize`)
      })
  })
}

const isSidecar = (container: Fields): boolean => container.restartPolicy === 'Always'

function removals(now: Fields, before: Fields, path: string): FieldError[] {
  return ['requests', 'limits']
    .filter(field => {
      const next = record(now, 'resources', field)
      return Object.keys(record(before, 'resources', field)).some(name => next[name] === undefined)
    })
    .map(field => fieldError.forbidden(`${path}.${field}`, `resource ${field} cannot be removed`))
}

/** The pod as a whole is judged as a container is: it has `resources` too. */
function otherChanges(now: Fields, before: Fields): FieldError[] {
  const errors: FieldError[] = []
  const refuse = (detail: string) => errors.push(fieldError.forbidden('spec', detail))
  const holders = (spec: Fields) => [...records(spec, 'containers'), { resources: spec.resources }]
  const olds = holders(before)
  for (const [i, holder] of holders(now).entries()) {
    if (!onlyAmountsChange(holder, olds[i]!)) refuse('only cpu and memory resources are mutable')
  }
  const oldInits = records(before, 'initContainers')
  for (const [i, container] of records(now, 'initContainers').entries()) {
    if (!isSidecar(container)) {
      if (!sameMeaning(container, oldInits[i])) refuse('resources for non-sidecar init containers are immutable')
    } else if (!onlyAmountsChange(container, oldInits[i]!)) {
      refuse('only cpu and memory resources for sidecar containers are mutable')
    }
  }
  return errors
}

function onlyAmountsChange(now: Fields, before: Fields): boolean {
  const resources: Fields = { ...record(now, 'resources') }
  for (const field of ['limits', 'requests']) {
    const had = record(before, 'resources', field)
    // what is new altogether is not looked into
    const amounts: Fields = has(before, 'resources', field) ? { ...record(resources, field) } : {}
    for (const name of AMOUNTS) restore(amounts, had, name)
    resources[field] = amounts
  }
  return sameMeaning({ ...now, resources }, before)
}
