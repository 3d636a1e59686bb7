/** `orrery aggregation print|remove|status`: how a host cluster comes to lead to this server, and how it stops. */
import { conditionOf } from '../../../apimachinery/conditions.ts'
import { at, str } from '../../../apimachinery/fields.ts'
import { groupResourceName, type KubeObject } from '../../../apimachinery/object.ts'
import { yamlText } from '../../../apimachinery/yamlWriter.ts'
import { type ClosableSpaceClient, httpSpaceClient } from '../../../client/http/httpClient.ts'
import { unlessGone } from '../../../client/unlessGone.ts'
import { type Host, printFound } from '../host.ts'
import { serverFile } from '../process/privateFolder.ts'
import { aggregatedService } from '../server/aggregatedOptions.ts'
import { hostOf } from '../server/hostCluster.ts'
import {
  API_SERVICE_NAMES,
  API_SERVICES,
  isOurs,
  leadsElsewhere,
  type Placed,
  type Registration,
  registration,
  USERS_ROLE,
} from './registration.ts'

type Settings = Record<string, unknown>

/** @throws Error naming the flag, or what of the host would be taken over */
export async function printAggregation(settings: Settings, host: Host): Promise<number> {
  const wanted = { ...registrationOf(settings, ''), caPem: authority(settings) }
  if (settings.hostKubeconfig !== undefined)
    await withHost(settings, async client => {
      for (const name of API_SERVICE_NAMES) {
        const elsewhere = leading(await apiService(client, name), wanted)
        if (elsewhere !== undefined)
          throw new Error(
            `the host has APIService ${name} already: ${elsewhere}; take that away first, or leave out --host-kubeconfig to print all the same`,
          )
      }
    })
  for (const { object } of registration(wanted)) host.out(`---\n${yamlText(object).trimEnd()}`)
  return 0
}

/** Exit code 1 when something leads elsewhere and stays. */
export async function removeAggregation(settings: Settings, host: Host): Promise<number> {
  const wanted = registrationOf(settings, '')
  return await withHost(settings, async client => {
    let code = 0
    const lines: string[] = []
    const objects: object[] = []
    // an APIService that is there without its server holds up the host's namespaces
    for (const { resource, object } of registration({ ...wanted, externalName: 'any' }).reverse()) {
      const { name = '', namespace } = object.metadata
      const what = `${groupResourceName(resource)} ${namespace === undefined ? '' : `${namespace}/`}${name}`
      const found = await existing(client, { resource, object })
      // the users of another server that the host leads to have their rights by the same role
      const isNeeded = code === 1 && name === USERS_ROLE
      const kept = found && (isNeeded ? 'an APIService stays' : keptBecause(found, wanted))
      if (kept === undefined && found) await client.delete(resource, { name, ...(namespace && { namespace }) })
      if (kept !== undefined && resource === API_SERVICES) code = 1
      const outcome = found === undefined ? 'not there' : kept === undefined ? 'deleted' : `kept, ${kept}`
      lines.push(`${what}: ${outcome}`)
      objects.push({ resource: groupResourceName(resource), ...(namespace && { namespace }), name, outcome })
    }
    await printFound(settings, lines, { kind: 'AggregationRemoval', objects }, host)
    return code
  })
}

/** Exit code 0 when the host calls all of it available. */
export async function aggregationStatus(settings: Settings, host: Host): Promise<number> {
  const caPem = optionalAuthority(settings)
  const wanted = registrationOf(settings, caPem ?? '')
  const found = await withHost(settings, client =>
    Promise.all(API_SERVICE_NAMES.map(async name => statusOf(name, await apiService(client, name), wanted))),
  )
  const lines = found.flatMap(({ name, available, message }) => [`${name}: ${available ? 'available' : message}`])
  await printFound(settings, lines, { kind: 'AggregationStatus', apiServices: found }, host)
  return found.every(({ available }) => available) ? 0 : 1
}

interface ApiServiceStatus {
  readonly name: string
  readonly available: boolean
  readonly message: string
}

function statusOf(name: string, object: KubeObject | undefined, wanted: Registration): ApiServiceStatus {
  const is = (message: string, available = false): ApiServiceStatus => ({ name, available, message })
  if (object === undefined) return is('missing: apply what "orrery aggregation print" prints')
  const elsewhere = leading(object, wanted)
  if (elsewhere !== undefined) return is(elsewhere)
  const caBundle = Buffer.from(str(object, 'spec', 'caBundle'), 'base64').toString()
  if (wanted.caPem !== '' && at(object, 'spec', 'caBundle') !== undefined && caBundle.trim() !== wanted.caPem.trim())
    return is('caBundle is not the authority of this data dir: apply anew what "orrery aggregation print" prints')
  const condition = conditionOf(object, 'Available')
  if (condition === undefined) return is('the host has not looked yet')
  const message = `${str(condition, 'reason')}: ${str(condition, 'message')}`
  return is(message, condition.status === 'True')
}

function leading(object: KubeObject | undefined, { service }: Registration): string | undefined {
  return object && leadsElsewhere(object, service)
}

function keptBecause(object: KubeObject, wanted: Registration): string | undefined {
  const elsewhere = object.kind === 'APIService' ? leading(object, wanted) : undefined
  return elsewhere ?? (isOurs(object) ? undefined : 'somebody else made it')
}

function registrationOf(settings: Settings, caPem: string): Registration {
  return {
    service: aggregatedService(String(settings.aggregatedService)),
    port: settings.aggregatedPort as number,
    caPem,
    externalName: settings.externalName as string | undefined,
    hostUser: settings.hostUser as string | undefined,
  }
}

/** @throws Error in words for whoever named the folder */
function authority({ dataDir }: Settings): string {
  return serverFile(dataDir as string, 'pki/ca.crt')
}

/** The host can be looked at from another machine than the server's. */
function optionalAuthority(settings: Settings): string | undefined {
  try {
    return authority(settings)
  } catch {
    return undefined
  }
}

async function withHost<T>(settings: Settings, run: (client: ClosableSpaceClient) => Promise<T>): Promise<T> {
  const { options } = await hostOf('', settings.hostKubeconfig as string | undefined)
  const client = httpSpaceClient({ ...options, userAgent: 'orrery' })
  try {
    return await run(client)
  } finally {
    client.close()
  }
}

function apiService(client: ClosableSpaceClient, name: string): Promise<KubeObject | undefined> {
  return unlessGone(client.get(API_SERVICES, { name }))
}

function existing(client: ClosableSpaceClient, { resource, object }: Placed): Promise<KubeObject | undefined> {
  const { name = '', namespace } = object.metadata
  return unlessGone(client.get(resource, { name, ...(namespace !== undefined && { namespace }) }))
}
