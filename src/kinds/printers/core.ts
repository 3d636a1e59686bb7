/** Printers of the core group (pods apart), discovery, events and coordination. */

import { at, type Fields, has, list, num, record, records, str, strings } from '../../apimachinery/fields.ts'
import { isRecord } from '../../apimachinery/object.ts'
import { age } from './duration.ts'
import {
  containerColumns,
  firstOf,
  formatAccessModes,
  formatLabels,
  loadBalancerAddresses,
  NONE,
  orNone,
} from './format.ts'
import { podPrinter } from './pods.ts'
import { column, nameColumn, type Printer, printer, printerWith, text } from './printer.ts'

const services = printerWith(
  [
    text('Type', 'spec.type'),
    column('Cluster-IP', o => orNone(str(o, 'spec', 'clusterIPs', 0) || str(o, 'spec', 'clusterIP')), {
      field: 'spec.clusterIP',
    }),
    column('External-IP', externalAddresses, { field: 'spec.externalIPs' }),
    column('Port(s)', servicePorts, { field: 'spec.ports' }),
  ],
  [column('Selector', o => formatLabels(at(o, 'spec', 'selector')), { wide: true, field: 'spec.selector' })],
)
const endpoints = printer(column('Endpoints', endpointAddresses, { field: 'subsets' }))
const endpointSlices = printer(
  text('AddressType', 'addressType'),
  column('Ports', o => unsetIfEmpty(records(o, 'ports').map(p => (has(p, 'port') ? String(p.port) : '*'))), {
    field: 'ports',
  }),
  column('Endpoints', o => unsetIfEmpty(records(o, 'endpoints').flatMap(e => strings(e, 'addresses'))), {
    field: 'endpoints',
  }),
)
const namespaces = printer(
  column('Status', o => str(o, 'status', 'phase'), { description: 'Whether the namespace is in use or going away.' }),
)
const configMaps = printer(column('Data', o => size(o.data) + size(o.binaryData), { field: 'data' }))
const secrets = printer(
  text('Type', 'type'),
  column('Data', o => size(o.data), { field: 'data' }),
)
const serviceAccounts = printer(column('Secrets', o => list(o, 'secrets').length, { field: 'secrets' }))
const resourceQuotas = printer(
  column('Request', o => quotaUse(o, false), { description: 'Requests used and allowed, by resource.' }),
  column('Limit', o => quotaUse(o, true), { description: 'Limits used and allowed, by resource.' }),
)
const nodeInfo = (o: Fields, field: string) => str(o, 'status', 'nodeInfo', field) || '<unknown>'
const nodes = printerWith(
  [
    column('Status', nodeStatus, { description: 'Whether the node is ready and takes pods.' }),
    column('Roles', nodeRoles, { description: 'The roles that labels give the node.' }),
  ],
  [
    text('Version', 'status.nodeInfo.kubeletVersion'),
    column('Internal-IP', o => nodeAddress(o, 'InternalIP'), { wide: true, field: 'status.addresses' }),
    column('External-IP', o => nodeAddress(o, 'ExternalIP'), { wide: true, field: 'status.addresses' }),
    column('OS-Image', o => nodeInfo(o, 'osImage'), { wide: true, field: 'status.nodeInfo.osImage' }),
    column('Kernel-Version', o => nodeInfo(o, 'kernelVersion'), { wide: true, field: 'status.nodeInfo.kernelVersion' }),
    column('Container-Runtime', o => nodeInfo(o, 'containerRuntimeVersion'), {
      wide: true,
      field: 'status.nodeInfo.containerRuntimeVersion',
    }),
  ],
)
const BETA_CLASS = 'volume.beta.kubernetes.io/storage-class'
const storageClassOf = (o: Fields) =>
  str(o, 'metadata', 'annotations', BETA_CLASS) || str(o, 'spec', 'storageClassName')
const phase = (o: Fields) => (has(o, 'metadata', 'deletionTimestamp') ? 'Terminating' : str(o, 'status', 'phase'))
const volumeMode = text('VolumeMode', 'spec.volumeMode', { absent: '<unset>', wide: true })
const attributesClass = text('VolumeAttributesClass', 'spec.volumeAttributesClassName', { absent: '<unset>' })
const volumes = printerWith(
  [
    column('Capacity', o => str(o, 'spec', 'capacity', 'storage'), { field: 'spec.capacity' }),
    column('Access Modes', o => formatAccessModes(list(o, 'spec', 'accessModes')), { field: 'spec.accessModes' }),
    text('Reclaim Policy', 'spec.persistentVolumeReclaimPolicy'),
    column('Status', phase, { field: 'status.phase' }),
    column(
      'Claim',
      o =>
        has(o, 'spec', 'claimRef')
          ? `${str(o, 'spec', 'claimRef', 'namespace')}/${str(o, 'spec', 'claimRef', 'name')}`
          : '',
      { field: 'spec.claimRef' },
    ),
    column('StorageClass', storageClassOf, { description: 'The storage class of the volume.' }),
    attributesClass,
    text('Reason', 'status.reason'),
  ],
  [volumeMode],
)
const claims = printerWith(
  [
    column('Status', phase, { field: 'status.phase' }),
    text('Volume', 'spec.volumeName'),
    column('Capacity', o => (str(o, 'spec', 'volumeName') ? str(o, 'status', 'capacity', 'storage') : ''), {
      field: 'status.capacity',
    }),
    column(
      'Access Modes',
      o => (str(o, 'spec', 'volumeName') ? formatAccessModes(list(o, 'status', 'accessModes')) : ''),
      { field: 'status.accessModes' },
    ),
    column('StorageClass', storageClassOf, { description: 'The storage class of the claim.' }),
    attributesClass,
  ],
  [volumeMode],
)
const componentStatuses: Printer = {
  columns: [
    nameColumn,
    column('Status', o => ({ True: 'Healthy', False: 'Unhealthy' })[healthy(o, 'status')] ?? 'Unknown', {
      description: 'Whether the component is healthy.',
    }),
    column('Message', o => healthy(o, 'message'), { description: 'The message of the component.' }),
    column('Error', o => healthy(o, 'error'), { description: 'The cause why the component gave no answer.' }),
  ],
}
const podTemplates: Printer = {
  columns: [
    nameColumn,
    ...containerColumns('template', 'spec').map(({ priority: _, ...c }) => c),
    column('Pod Labels', o => formatLabels(at(o, 'template', 'metadata', 'labels')), {
      description: 'Labels of the pods to be made.',
    }),
  ],
}
const eventSeen = (o: Fields, when: 'first' | 'last') => {
  const named = when === 'first' ? 'FirstTimestamp' : 'LastTimestamp'
  return str(o, named[0]!.toLowerCase() + named.slice(1)) || str(o, `deprecated${named}`)
}
const firstSeen = (o: Fields) => eventSeen(o, 'first') || str(o, 'eventTime')
const events: Printer = {
  columns: [
    column(
      'Last Seen',
      (o, now) => age(str(o, 'series', 'lastObservedTime') || eventSeen(o, 'last') || firstSeen(o), now),
      {
        field: 'lastTimestamp',
      },
    ),
    text('Type', 'type'),
    text('Reason', 'reason'),
    column('Object', eventObject, { field: 'involvedObject' }),
    column('Subobject', o => str(o, 'involvedObject', 'fieldPath') || str(o, 'regarding', 'fieldPath'), {
      wide: true,
      field: 'involvedObject.fieldPath',
    }),
    column('Source', eventSource, { wide: true, field: 'source' }),
    column('Message', o => (str(o, 'message') || str(o, 'note')).trim(), { field: 'message' }),
    column('First Seen', (o, now) => age(firstSeen(o), now), { wide: true, field: 'firstTimestamp' }),
    column('Count', o => num(o, 'series', 'count') || num(o, 'count') || num(o, 'deprecatedCount') || 1, {
      wide: true,
      field: 'count',
    }),
    { ...nameColumn, priority: 1 },
  ],
}

export const corePrinters: Record<string, Printer> = {
  '/pods': podPrinter,
  '/podtemplates': podTemplates,
  '/services': services,
  '/endpoints': endpoints,
  'discovery.k8s.io/endpointslices': endpointSlices,
  '/namespaces': namespaces,
  '/nodes': nodes,
  '/configmaps': configMaps,
  '/secrets': secrets,
  '/serviceaccounts': serviceAccounts,
  '/resourcequotas': resourceQuotas,
  '/persistentvolumes': volumes,
  '/persistentvolumeclaims': claims,
  '/componentstatuses': componentStatuses,
  '/events': events,
  'events.k8s.io/events': events,
  'coordination.k8s.io/leases': printer(text('Holder', 'spec.holderIdentity')),
  'coordination.k8s.io/leasecandidates': printer(
    text('LeaseName', 'spec.leaseName'),
    text('BinaryVersion', 'spec.binaryVersion'),
    text('EmulationVersion', 'spec.emulationVersion'),
  ),
}

function size(value: unknown): number {
  return isRecord(value) ? Object.keys(value).length : 0
}

function unsetIfEmpty(items: readonly string[]): string {
  return items.length === 0 ? '<unset>' : firstOf(items, 3)
}

function servicePorts(service: Fields): string {
  const ports = records(service, 'spec', 'ports').map(p =>
    num(p, 'nodePort') > 0 ? `${p.port}:${p.nodePort}/${p.protocol}` : `${p.port}/${p.protocol}`,
  )
  return orNone(ports.join(','))
}

function externalAddresses(service: Fields): string {
  const external = strings(service, 'spec', 'externalIPs').join(',')
  switch (str(service, 'spec', 'type')) {
    case 'ClusterIP':
    case 'NodePort':
      return orNone(external)
    case 'LoadBalancer': {
      const addresses = [loadBalancerAddresses(service.status), external].filter(a => a !== '')
      return addresses.join(',') || '<pending>'
    }
    case 'ExternalName':
      return str(service, 'spec', 'externalName')
    default:
      return '<unknown>'
  }
}

function endpointAddresses(object: Fields): string {
  const all = records(object, 'subsets').flatMap(subset => {
    const addresses = records(subset, 'addresses').map(a => str(a, 'ip'))
    const ports = records(subset, 'ports')
    if (ports.length === 0) return addresses
    return ports.flatMap(p => addresses.map(a => `${a.includes(':') ? `[${a}]` : a}:${p.port}`))
  })
  return all.length === 0 ? NONE : firstOf(all, 3)
}

function quotaUse(quota: Fields, limits: boolean): string {
  const hard = record(quota, 'status', 'hard')
  return Object.keys(hard)
    .sort()
    .filter(name => name.startsWith('limits') === limits)
    .map(name => `${name}: ${at(quota, 'status', 'used', name) ?? 0}/${hard[name]}`)
    .join(', ')
}

function nodeStatus(node: Fields): string {
  const ready = records(node, 'status', 'conditions').find(c => c.type === 'Ready')
  const status = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady'
  return at(node, 'spec', 'unschedulable') === true ? `${status},SchedulingDisabled` : status
}

const ROLE_PREFIX = 'node-role.kubernetes.io/'

function nodeRoles(node: Fields): string {
  const roles = new Set<string>()
  for (const [label, value] of Object.entries(record(node, 'metadata', 'labels'))) {
    if (label.startsWith(ROLE_PREFIX) && label.length > ROLE_PREFIX.length) roles.add(label.slice(ROLE_PREFIX.length))
    else if (label === 'kubernetes.io/role' && typeof value === 'string' && value !== '') roles.add(value)
  }
  return orNone([...roles].sort().join(','))
}

function nodeAddress(node: Fields, type: string): string {
  return orNone(
    str(
      records(node, 'status', 'addresses').find(a => a.type === type),
      'address',
    ),
  )
}

function healthy(component: Fields, field: string): string {
  return str(
    records(component, 'conditions').find(c => c.type === 'Healthy'),
    field,
  )
}

function eventObject(event: Fields): string {
  const about = has(event, 'regarding') ? record(event, 'regarding') : record(event, 'involvedObject')
  const kind = str(about, 'kind').toLowerCase()
  return str(about, 'name') === '' ? kind : `${kind}/${str(about, 'name')}`
}

function eventSource(event: Fields): string {
  const source = has(event, 'deprecatedSource') ? record(event, 'deprecatedSource') : record(event, 'source')
  const component = str(source, 'component') || str(event, 'reportingController') || str(event, 'reportingComponent')
  const host = str(source, 'host') || str(event, 'reportingInstance')
  return host === '' ? component : `${component}, ${host}`
}
