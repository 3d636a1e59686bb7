/** Printers of networking, RBAC, storage, scheduling, certificates, admission, flow control and API registration. */
import { at, type Fields, has, list, num, records, str, strings } from '../../apimachinery/fields.ts'
import { humanDuration } from './duration.ts'
import { firstOf, formatSelector, loadBalancerAddresses, NONE, orNone } from './format.ts'
import {
  ageColumn,
  column,
  count,
  createdAtColumn,
  integer,
  nameColumn,
  type Printer,
  printer,
  printerWith,
  text,
} from './printer.ts'

const ingresses = printer(
  text('Class', 'spec.ingressClassName', { absent: NONE }),
  column('Hosts', ingressHosts, { description: 'Hosts that the rules are for.' }),
  column('Address', o => loadBalancerAddresses(o.status), { description: 'Where the load balancer listens.' }),
  column('Ports', o => (list(o, 'spec', 'tls').length > 0 ? '80, 443' : '80'), { description: 'Ports that it opens.' }),
)
const parameters = (o: Fields) => {
  if (!has(o, 'spec', 'parameters')) return NONE
  const group = str(o, 'spec', 'parameters', 'apiGroup')
  return `${str(o, 'spec', 'parameters', 'kind')}${group && `.${group}`}/${str(o, 'spec', 'parameters', 'name')}`
}

const subjects = (o: Fields, kind: string) =>
  records(o, 'subjects')
    .filter(s => s.kind === kind)
    .map(s => (kind === 'ServiceAccount' ? `${str(s, 'namespace')}/${str(s, 'name')}` : str(s, 'name')))
    .join(', ')
const roleBindings = printerWith(
  [column('Role', o => `${str(o, 'roleRef', 'kind')}/${str(o, 'roleRef', 'name')}`, { field: 'roleRef' })],
  [
    column('Users', o => subjects(o, 'User'), { wide: true, description: 'Users that get the role.' }),
    column('Groups', o => subjects(o, 'Group'), { wide: true, description: 'Groups that get the role.' }),
    column('ServiceAccounts', o => subjects(o, 'ServiceAccount'), {
      wide: true,
      description: 'Service accounts that get the role.',
    }),
  ],
)

const annotated = (o: Fields, key: string) => str(o, 'metadata', 'annotations', key) === 'true'
const withDefaultMark = (key: string) =>
  column(
    'Name',
    o =>
      annotated(o, key) || annotated(o, key.replace('storageclass', 'storageclass.beta'))
        ? `${str(o, 'metadata', 'name')} (default)`
        : str(o, 'metadata', 'name'),
    { format: 'name', field: 'metadata.name' },
  )
const storageClasses: Printer = {
  columns: [
    withDefaultMark('storageclass.kubernetes.io/is-default-class'),
    text('Provisioner', 'provisioner'),
    text('ReclaimPolicy', 'reclaimPolicy', { absent: 'Delete' }),
    text('VolumeBindingMode', 'volumeBindingMode', { absent: 'Immediate' }),
    column('AllowVolumeExpansion', o => o.allowVolumeExpansion === true, { field: 'allowVolumeExpansion' }),
    ageColumn,
  ],
}
const bool = (name: string, absent: boolean, ...path: string[]) =>
  column(name, o => (at(o, ...path) as boolean | undefined) ?? absent, { type: 'boolean', field: path.join('.') })
const csiDrivers = printer(
  bool('AttachRequired', true, 'spec', 'attachRequired'),
  bool('PodInfoOnMount', false, 'spec', 'podInfoOnMount'),
  bool('StorageCapacity', false, 'spec', 'storageCapacity'),
  column(
    'TokenRequests',
    o =>
      records(o, 'spec', 'tokenRequests')
        .map(t => str(t, 'audience'))
        .join(',') || '<unset>',
    { field: 'spec.tokenRequests' },
  ),
  bool('RequiresRepublish', false, 'spec', 'requiresRepublish'),
  column('Modes', o => orNone(strings(o, 'spec', 'volumeLifecycleModes').join(',')), {
    field: 'spec.volumeLifecycleModes',
  }),
)
const volumeAttachments = printer(
  text('Attacher', 'spec.attacher', { format: 'name' }),
  text('PV', 'spec.source.persistentVolumeName'),
  text('Node', 'spec.nodeName'),
  bool('Attached', false, 'status', 'attached'),
)

const signingRequests: Printer = {
  columns: [
    nameColumn,
    ageColumn,
    text('SignerName', 'spec.signerName', { absent: NONE }),
    text('Requestor', 'spec.username'),
    column(
      'RequestedDuration',
      o => (has(o, 'spec', 'expirationSeconds') ? humanDuration(num(o, 'spec', 'expirationSeconds') * 1000) : NONE),
      { field: 'spec.expirationSeconds' },
    ),
    column('Condition', requestState, { field: 'status.conditions' }),
  ],
}

const webhooks = printer(integer('Webhooks', 'webhooks', o => list(o, 'webhooks').length))
const paramKind = column(
  'ParamKind',
  o =>
    has(o, 'spec', 'paramKind')
      ? `${str(o, 'spec', 'paramKind', 'apiVersion')}/${str(o, 'spec', 'paramKind', 'kind')}`
      : '<unset>',
  { field: 'spec.paramKind' },
)
const policyBindings = printer(
  text('PolicyName', 'spec.policyName'),
  column('ParamRef', paramRef, { field: 'spec.paramRef' }),
)

const flowSchemaColumns = printerWith(
  [
    column('PriorityLevel', o => str(o, 'spec', 'priorityLevelConfiguration', 'name'), {
      field: 'spec.priorityLevelConfiguration',
    }),
    count('MatchingPrecedence', 'spec.matchingPrecedence'),
    column('DistinguisherMethod', o => orNone(str(o, 'spec', 'distinguisherMethod', 'type')), {
      field: 'spec.distinguisherMethod',
    }),
  ],
  [
    column('MissingPL', o => str(condition(o, 'Dangling'), 'status') || '?', {
      description: 'Whether the priority level that it names is missing.',
    }),
  ],
)
const flowSchemas: Printer = {
  ...flowSchemaColumns,
  rank: o => num(o, 'spec', 'matchingPrecedence'),
}
const limited = (o: Fields, ...path: string[]) => {
  const value = at(o, 'spec', 'limited', ...path)
  return typeof value === 'number' ? value : NONE
}
const queuing = ['limitResponse', 'queuing'] as const
const priorityLevels = printer(
  text('Type', 'spec.type'),
  column('NominalConcurrencyShares', o => limited(o, 'nominalConcurrencyShares'), {
    field: 'spec.limited.nominalConcurrencyShares',
  }),
  column('Queues', o => limited(o, ...queuing, 'queues'), { field: 'spec.limited.limitResponse.queuing.queues' }),
  column('HandSize', o => limited(o, ...queuing, 'handSize'), { field: 'spec.limited.limitResponse.queuing.handSize' }),
  column('QueueLengthLimit', o => limited(o, ...queuing, 'queueLengthLimit'), {
    field: 'spec.limited.limitResponse.queuing.queueLengthLimit',
  }),
)
const apiServices = printer(
  column(
    'Service',
    o =>
      has(o, 'spec', 'service')
        ? `${str(o, 'spec', 'service', 'namespace')}/${str(o, 'spec', 'service', 'name')}`
        : 'Local',
    { description: 'The service that serves the group version.' },
  ),
  column('Available', apiAvailability, { description: 'Whether the group version can be served.' }),
)

export const clusterPrinters: Record<string, Printer> = {
  'networking.k8s.io/ingresses': ingresses,
  'networking.k8s.io/ingressclasses': printer(
    text('Controller', 'spec.controller'),
    column('Parameters', parameters, { field: 'spec.parameters' }),
  ),
  'networking.k8s.io/networkpolicies': printer(
    column('Pod-Selector', o => formatSelector(at(o, 'spec', 'podSelector')), { field: 'spec.podSelector' }),
  ),
  'networking.k8s.io/servicecidrs': printer(
    column('CIDRs', o => strings(o, 'spec', 'cidrs').join(','), { field: 'spec.cidrs' }),
  ),
  'networking.k8s.io/ipaddresses': printer(column('ParentRef', parentRef, { field: 'spec.parentRef' })),
  'rbac.authorization.k8s.io/rolebindings': roleBindings,
  'rbac.authorization.k8s.io/clusterrolebindings': roleBindings,
  'rbac.authorization.k8s.io/roles': { columns: [nameColumn, createdAtColumn] },
  'rbac.authorization.k8s.io/clusterroles': { columns: [nameColumn, createdAtColumn] },
  'storage.k8s.io/storageclasses': storageClasses,
  'storage.k8s.io/csidrivers': csiDrivers,
  'storage.k8s.io/csinodes': printer(integer('Drivers', 'spec.drivers', o => list(o, 'spec', 'drivers').length)),
  'storage.k8s.io/volumeattachments': volumeAttachments,
  'storage.k8s.io/volumeattributesclasses': printer(text('DriverName', 'driverName')),
  'scheduling.k8s.io/priorityclasses': printerWith(
    [
      integer('Value', 'value'),
      column('Global-Default', o => o.globalDefault === true, { type: 'boolean', field: 'globalDefault' }),
    ],
    [text('PreemptionPolicy', 'preemptionPolicy')],
  ),
  'node.k8s.io/runtimeclasses': printer(text('Handler', 'handler')),
  'certificates.k8s.io/certificatesigningrequests': signingRequests,
  'admissionregistration.k8s.io/validatingwebhookconfigurations': webhooks,
  'admissionregistration.k8s.io/mutatingwebhookconfigurations': webhooks,
  'admissionregistration.k8s.io/validatingadmissionpolicies': printer(
    integer('Validations', 'spec.validations', o => list(o, 'spec', 'validations').length),
    paramKind,
  ),
  'admissionregistration.k8s.io/validatingadmissionpolicybindings': policyBindings,
  'admissionregistration.k8s.io/mutatingadmissionpolicies': printer(
    integer('Mutations', 'spec.mutations', o => list(o, 'spec', 'mutations').length),
    paramKind,
  ),
  'admissionregistration.k8s.io/mutatingadmissionpolicybindings': policyBindings,
  'flowcontrol.apiserver.k8s.io/flowschemas': flowSchemas,
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations': priorityLevels,
  'apiregistration.k8s.io/apiservices': apiServices,
  'apiextensions.k8s.io/customresourcedefinitions': { columns: [nameColumn, createdAtColumn] },
}

function condition(object: Fields, type: string): Fields | undefined {
  return records(object, 'status', 'conditions').find(c => c.type === type)
}

function ingressHosts(ingress: Fields): string {
  const hosts = records(ingress, 'spec', 'rules')
    .map(r => str(r, 'host'))
    .filter(host => host !== '')
  return hosts.length === 0 ? '*' : firstOf(hosts, 3)
}

function requestState(request: Fields): string {
  const states = ['Approved', 'Denied', 'Failed'].filter(type => condition(request, type) !== undefined)
  if (str(request, 'status', 'certificate') !== '') states.push('Issued')
  return states.join(',') || 'Pending'
}

function paramRef(binding: Fields): string {
  if (!has(binding, 'spec', 'paramRef')) return '<unset>'
  const namespace = str(binding, 'spec', 'paramRef', 'namespace')
  const name = str(binding, 'spec', 'paramRef', 'name') || '*'
  return namespace === '' ? name : `${namespace}/${name}`
}

function parentRef(address: Fields): string {
  if (!has(address, 'spec', 'parentRef')) return NONE
  const part = (field: string) => str(address, 'spec', 'parentRef', field)
  return [part('resource') + (part('group') && `.${part('group')}`), part('namespace'), part('name')]
    .filter(p => p !== '')
    .join('/')
}

function apiAvailability(service: Fields): string {
  const available = condition(service, 'Available')
  if (available === undefined) return 'Unknown'
  const status = str(available, 'status')
  return status === 'True' ? status : `${status} (${str(available, 'reason')})`
}
