/**
 * Gives Services their cluster address, node ports and health check port, and sees to it that no two of a space have the same. An
 * allocation of a request is reserved until its Service is stored; a dry run takes nothing.
 *
 * Spaces have one IPv4 range. Other families are kept as requested, without allocation: they are for clusters that have them.
 */
import { isIPv4, isIPv6 } from 'node:net'
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import {
  ensure,
  type Fields,
  has,
  isEmpty,
  list,
  num,
  record,
  records,
  setDefaults,
  str,
  strings,
} from '../../apimachinery/fields.ts'
import { isKubernetesService } from '../../apimachinery/kubernetesService.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { cloneJson, sameMeaning } from '../../apimachinery/values.ts'
import { needsHealthCheck } from '../../kinds/network/serviceValidation.ts'
import type { Admission, AdmissionRequest } from '../registry/admission.ts'
import { invalid, writesOf } from '../registry/admissionFrame.ts'
import { type AllocationLog, clusterIpsOf, itemsOf, ownerOf, SERVICES } from './allocationLog.ts'
import { canonicalIp } from './canonicalIp.ts'
import type { ServiceNetwork, ServiceRange } from './serviceRanges.ts'
import type { Item, SpaceAllocations } from './spaceAllocations.ts'

interface ServiceAdmissionDeps {
  network: ServiceNetwork
  log: AllocationLog
  /** From 0 to 1. */
  random: () => number
}

export function serviceAdmission(deps: ServiceAdmissionDeps): Admission {
  return {
    stage: 'prepare',
    handles: writesOf(SERVICES),
    concerns: ({ object, old }) => lacksSomething(object) || asksForOther(object, old),
    admit(request) {
      const { object, context, outcome } = request
      const { namespace = '', name = '' } = object.metadata
      const spec = ensure(object, 'spec')
      if (spec.type === 'ExternalName' || isKubernetesService(SERVICES, namespace, name)) return
      sayFamilies(spec, record(request.old, 'spec'))
      const allocations = deps.log.of(context.space)
      const reserved: Item[] = []
      // First of all: whatever goes wrong from here on gives back what was taken.
      if (outcome === undefined) throw new Error('a Service is written without anybody to say what became of it')
      // The stored Service holds its items by now.
      outcome.onSettled(() => {
        for (const item of reserved) allocations.release(item)
      })
      new Allocation(deps, request, { allocations, reserved }).run()
    },
  }
}

/** One request's way through the ranges. */
class Allocation {
  readonly #deps: ServiceAdmissionDeps
  readonly #request: AdmissionRequest
  readonly #allocations: SpaceAllocations
  /** To be given back in the end. */
  readonly #reserved: Item[]
  readonly #owner: string
  readonly #spec: Fields
  /** Present items of the Service. */
  readonly #own: ReadonlySet<Item>
  /** It could do without until now: it only described a Service of the clusters. */
  readonly #wasWithout: boolean

  constructor(
    deps: ServiceAdmissionDeps,
    request: AdmissionRequest,
    { allocations, reserved }: { allocations: SpaceAllocations; reserved: Item[] },
  ) {
    const { object, old } = request
    this.#deps = deps
    this.#request = request
    this.#allocations = allocations
    this.#reserved = reserved
    this.#owner = ownerOf({ namespace: object.metadata.namespace ?? '', name: object.metadata.name ?? '' })
    this.#spec = ensure(object, 'spec')
    this.#own = new Set(old === undefined ? [] : itemsOf(old))
    this.#wasWithout = old !== undefined && record(old, 'spec').type === this.#spec.type
  }

  run(): void {
    this.#address()
    this.#nodePorts()
    this.#healthCheckPort()
  }

  #address(): void {
    const spec = this.#spec
    const { addresses } = this.#deps.network
    const requested = clusterIpsOf(spec)
    for (const ip of requested) {
      if (!isIPv4(ip) && !isIPv6(ip)) continue
      const wrong = this.#take(canonicalIp(ip), isIPv4(ip) ? addresses : undefined, ADDRESS)
      if (wrong !== undefined) {
        throw this.#refused(fieldError.invalid('spec.clusterIPs', requested, `failed to allocate IP ${ip}: ${wrong}`))
      }
    }
    if (!lacksAddress(spec) || this.#request.context.dryRun) return
    const given = this.#give(addresses)
    if (given === undefined) {
      if (this.#wasWithout) return
      const why = `failed to allocate a serviceIP: range is full: the Services of this space have all ${addresses.size} addresses of ${addresses.text}. Delete some, or start the server with a larger --service-cluster-ip-range`
      throw this.#refused(fieldError.invalid('spec.clusterIPs', requested, why))
    }
    Object.assign(spec, { clusterIP: given, clusterIPs: [given] })
  }

  #nodePorts(): void {
    if (this.#spec.type !== 'NodePort' && this.#spec.type !== 'LoadBalancer') return
    const ports = records(this.#spec, 'ports')
    const isNew = this.#request.old === undefined
    // Ports of one number share what they are given, whatever their protocols.
    const shared = new Map<unknown, number>()
    const mine = new Set<number>()
    const wanted = isNew ? requested(ports) : undefined
    for (const port of ports) if (!isNew && num(port, 'nodePort') !== 0) mine.add(num(port, 'nodePort'))
    const needed = needsNodePorts(this.#spec)
    for (const [i, port] of ports.entries()) {
      const field = `spec.ports[${i}].nodePort`
      const known = shared.get(port.port)
      const own = num(port, 'nodePort')
      if (own === 0 && !needed) continue
      const requested = own !== 0 ? own : (wanted?.get(port.port) ?? 0)
      if (requested !== 0 && requested !== known) {
        // Ports with other numbers do not share one while the Service is new.
        const wrong =
          isNew && mine.has(requested) ? `${PORT} is already allocated` : this.#take(requested, this.#ports, PORT)
        if (wrong !== undefined) throw this.#refused(fieldError.invalid(field, requested, wrong))
      }
      const given = requested !== 0 ? requested : (known ?? this.#givePort(field))
      if (given === undefined) continue
      port.nodePort = given
      mine.add(given)
      if (isNew && known === undefined) shared.set(port.port, given)
    }
  }

  #healthCheckPort(): void {
    const spec = this.#spec
    if (!needsHealthCheck(spec)) return
    const field = 'spec.healthCheckNodePort'
    const requested = num(spec, 'healthCheckNodePort')
    if (requested === 0) {
      const given = this.#givePort(field)
      if (given !== undefined) spec.healthCheckNodePort = given
      return
    }
    const mine = records(spec, 'ports').some(port => port.nodePort === requested)
    const wrong = mine ? `${PORT} is already allocated` : this.#take(requested, this.#ports, PORT)
    if (wrong !== undefined) throw this.#refused(fieldError.invalid(field, requested, wrong))
  }

  get #ports(): ServiceRange<number> {
    return this.#deps.network.ports
  }

  #givePort(field: string): number | undefined {
    if (this.#request.context.dryRun) return undefined
    const given = this.#give(this.#ports)
    if (given !== undefined || this.#wasWithout) return given
    const why = `failed to allocate a nodePort: range is full: the Services of this space have all ports of ${this.#ports.text}. Delete some, or start the server with a larger --service-node-port-range`
    throw this.#refused(fieldError.invalid(field, 0, why))
  }

  /** Takes a requested item; the reason, if it is unavailable. */
  #take<T extends Item>(item: T, range: ServiceRange<T> | undefined, what: string): string | undefined {
    if (this.#own.has(item)) return undefined
    if (range?.has(item) === false) {
      return `${what} is not in the valid range. The range of valid ${what === PORT ? 'ports' : 'IPs'} is ${range.text}`
    }
    if (this.#allocations.claim(item, this.#owner) !== undefined) return `${what} is already allocated`
    this.#reserve(item)
    return undefined
  }

  #give<T extends Item>(range: ServiceRange<T>): T | undefined {
    const item = this.#allocations.free(range, this.#deps.random)
    if (item !== undefined) this.#reserve(item)
    return item
  }

  #reserve(item: Item): void {
    if (this.#request.context.dryRun) return
    this.#allocations.reserve(item, this.#owner)
    this.#reserved.push(item)
  }

  #refused(error: FieldError): Error {
    return invalid(this.#request, [error])
  }
}

const ADDRESS = 'provided IP'
const PORT = 'provided port'

/** By port: one with another protocol and the same number says which node port both are to have. */
function requested(ports: readonly Fields[]): Map<unknown, number> {
  const found = new Map<unknown, number>()
  for (const port of ports) {
    const nodePort = num(port, 'nodePort')
    if (nodePort !== 0 && !found.has(port.port)) found.set(port.port, nodePort)
  }
  return found
}

/** Default families of Services; earlier ones stay. */
function sayFamilies(spec: Fields, old: Fields): void {
  const { ipFamilies, ipFamilyPolicy } = old.type === 'ExternalName' ? {} : old
  if (has(old, 'ipFamilies')) setDefaults(spec, cloneJson({ ipFamilies, ipFamilyPolicy }))
  const headless = spec.clusterIP === 'None' && Object.keys(record(spec, 'selector')).length === 0
  const [first] = strings(spec, 'clusterIPs')
  setDefaults(spec, {
    ipFamilies: [first !== undefined && isIPv6(first) ? 'IPv6' : 'IPv4'],
    ipFamilyPolicy: headless ? 'RequireDualStack' : 'SingleStack',
  })
  if (headless && spec.ipFamilyPolicy === 'RequireDualStack' && list(spec, 'ipFamilies').length === 1) {
    spec.ipFamilies = ['IPv4', 'IPv6']
  }
}

function lacksAddress(spec: Fields): boolean {
  return (
    TYPES.has(str(spec, 'type')) &&
    isEmpty(spec.clusterIP) &&
    list(spec, 'clusterIPs').length === 0 &&
    str(spec, 'ipFamilies', 0) !== 'IPv6'
  )
}
const TYPES: ReadonlySet<string> = new Set(['ClusterIP', 'NodePort', 'LoadBalancer'])

function needsNodePorts(spec: Fields): boolean {
  return spec.type === 'NodePort' || (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false)
}

function lacksSomething(service: KubeObject): boolean {
  const spec = record(service, 'spec')
  return (
    spec.type !== 'ExternalName' &&
    (lacksAddress(spec) ||
      !has(spec, 'ipFamilies') ||
      !has(spec, 'ipFamilyPolicy') ||
      (needsNodePorts(spec) && records(spec, 'ports').some(port => isEmpty(port.nodePort))) ||
      (needsHealthCheck(spec) && isEmpty(spec.healthCheckNodePort)))
  )
}

function asksForOther(service: KubeObject, old: KubeObject | undefined): boolean {
  const [now, before] = [record(service, 'spec'), record(old, 'spec')]
  return now.type !== before.type || !sameMeaning(itemsOf(service), itemsOf(old ?? service))
}
