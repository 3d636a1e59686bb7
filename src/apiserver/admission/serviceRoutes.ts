/**
 * Address of a Service of a space. Spaces have no network of their own, so the server follows the objects to an address that it can reach
 * itself. Each call reads the server's memory; only the owners of slices are kept, for the few namespaces with webhooks.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#service-reference
 */

import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import { has, num, record, records, str, strings } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { Store, Stored } from '../../storage/store.ts'
import type { ParsedCache } from '../registry/codec.ts'
import { keyOf } from '../registry/keys.ts'

export interface ServiceReference {
  namespace: string
  name: string
  /** `''`, or starting with `/`. */
  path: string
  port: number
}

/** Target of a connection: a name or an address. */
export interface Route {
  host: string
  port: number
}

/** There is no way to the service; the message is upstream's. */
export class NoRoute extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'NoRoute'
  }
}

interface ServiceRoutesDeps {
  store: Pick<Store, 'get' | 'list' | 'project'>
  parsed: ParsedCache
  /** From 0 to 1; chooses among endpoints. */
  random: () => number
}

const SERVICES = { group: '', resource: 'services' }
const ENDPOINTS = { group: '', resource: 'endpoints' }
const SLICES = { group: 'discovery.k8s.io', resource: 'endpointslices' }
const SERVICE_LABEL = 'kubernetes.io/service-name'
/** Namespaces whose slices are known by service. */
const KEPT_NAMESPACES = 64

export class ServiceRoutes {
  readonly #deps: ServiceRoutesDeps
  /** Slices by service, by `space/namespace`. */
  readonly #slicesIn = new BoundedCache<string, ReadonlyMap<string, readonly Stored[]>>(KEPT_NAMESPACES)
  /** Counts written slices: what was read while one was written is not kept. */
  #writes = 0

  constructor(deps: ServiceRoutesDeps) {
    this.#deps = deps
    deps.store.project(SLICES, {
      reset: () => {
        this.#writes++
        this.#slicesIn.clear()
      },
      apply: ({ key }) => {
        this.#writes++
        this.#slicesIn.delete(`${key.space}/${key.namespace}`)
      },
    })
  }

  /** `space` is a logical-cluster id. @throws NoRoute */
  async to(space: string, { namespace, name, port }: ServiceReference): Promise<Route> {
    const service = await this.#get(space, SERVICES, namespace, name)
    if (service === undefined) throw new NoRoute(`service ${JSON.stringify(name)} not found`)
    const spec = record(service, 'spec')
    if (spec.type === 'ExternalName') return { host: str(spec, 'externalName'), port }
    const servicePort = records(spec, 'ports').find(each => each.port === port)
    if (servicePort === undefined) {
      throw new NoRoute(`no service port ${port} found for service ${JSON.stringify(name)}`)
    }
    const slices = await this.#slices(space, namespace, name)
    const routes =
      slices.length > 0
        ? slices.flatMap(slice => routesOfSlice(slice, servicePort))
        : routesOfEndpoints(await this.#get(space, ENDPOINTS, namespace, name), servicePort)
    const route = routes[Math.floor(this.#deps.random() * routes.length)]
    if (route === undefined) throw new NoRoute(`no endpoints available for service ${JSON.stringify(name)}`)
    return route
  }

  async #get(
    space: string,
    type: { group: string; resource: string },
    namespace: string,
    name: string,
  ): Promise<Readonly<KubeObject> | undefined> {
    const stored = await this.#deps.store.get(keyOf(space, type, namespace, name))
    return stored && this.#deps.parsed.get(stored)
  }

  async #slices(space: string, namespace: string, name: string): Promise<Readonly<KubeObject>[]> {
    const id = `${space}/${namespace}`
    const byService = this.#slicesIn.peek(id) ?? (await this.#read(id, space, namespace))
    return (byService.get(name) ?? []).map(stored => this.#deps.parsed.get(stored))
  }

  async #read(id: string, space: string, namespace: string): Promise<ReadonlyMap<string, readonly Stored[]>> {
    const before = this.#writes
    const { items } = await this.#deps.store.list({ space, ...SLICES, namespace })
    const byService = new Map<string, Stored[]>()
    for (const stored of items) {
      const service = this.#deps.parsed.get(stored).metadata.labels?.[SERVICE_LABEL]
      if (service === undefined) continue
      const slices = byService.get(service)
      if (slices === undefined) byService.set(service, [stored])
      else slices.push(stored)
    }
    if (before !== this.#writes) return byService
    this.#slicesIn.set(id, byService)
    return byService
  }
}

type Fields = Record<string, unknown>

/** Ports of a slice have the names of the service's; a slice without ports means every port. */
function routesOfSlice(slice: Readonly<KubeObject>, servicePort: Fields): Route[] {
  const ports = records(slice, 'ports')
  const numbers =
    ports.length === 0
      ? [numericTarget(servicePort)]
      : ports.filter(port => str(port, 'name') === str(servicePort, 'name')).map(port => num(port, 'port'))
  return records(slice, 'endpoints')
    .filter(endpoint => record(endpoint, 'conditions').ready !== false)
    .flatMap(endpoint => strings(endpoint, 'addresses').flatMap(host => numbers.map(port => ({ host, port }))))
    .filter(({ port }) => port > 0)
}

function routesOfEndpoints(endpoints: Readonly<KubeObject> | undefined, servicePort: Fields): Route[] {
  return records(endpoints, 'subsets').flatMap(subset => {
    const ports = records(subset, 'ports').filter(port => str(port, 'name') === str(servicePort, 'name'))
    const addresses = records(subset, 'addresses').map(address => str(address, 'ip'))
    return addresses.flatMap(host => ports.map(port => ({ host, port: num(port, 'port') })))
  })
}

/** A named target port means something only together with a port of the endpoints. */
function numericTarget(servicePort: Fields): number {
  if (!has(servicePort, 'targetPort')) return num(servicePort, 'port')
  return num(servicePort, 'targetPort')
}
