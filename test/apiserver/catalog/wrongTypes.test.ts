/** Messages for wrong types in real kinds: the catalog's facts about upstream's structs in use. */
import t from 'tap'
import { typeErrors } from '../../../src/apimachinery/go/typeErrors.ts'
import { loadCatalog } from '../../../src/apiserver/catalog/catalog.ts'

const { types } = loadCatalog()

function told(kind: string, rest: object): string | undefined {
  const schema = types.find(type => type.kind === kind)?.schema
  if (schema === undefined) throw new Error(`no ${kind}`)
  return typeErrors({ kind, ...rest }, schema)
}

const volume = (source: unknown): object => ({ spec: { volumes: [{ name: 'v', configMap: source }] } })
const rows: [kind: string, rest: object, text: string][] = [
  [
    'Pod',
    volume(5),
    'number into Go struct field Volume.spec.volumes.VolumeSource.configMap of type v1.ConfigMapVolumeSource',
  ],
  [
    'Pod',
    volume({ name: 5 }),
    'number into Go struct field ConfigMapVolumeSource.spec.volumes.VolumeSource.configMap.LocalObjectReference.name of type string',
  ],
  [
    'Pod',
    { spec: { containers: [{ livenessProbe: { httpGet: { path: true } } }] } },
    'bool into Go struct field HTTPGetAction.spec.containers.livenessProbe.ProbeHandler.httpGet.path of type string',
  ],
  ['Service', { spec: { type: 80 } }, 'number into Go struct field ServiceSpec.spec.type of type v1.ServiceType'],
  [
    'Service',
    { spec: { ipFamilies: {} } },
    'object into Go struct field ServiceSpec.spec.ipFamilies of type []v1.IPFamily',
  ],
  [
    'Service',
    { spec: { ipFamilies: [4] } },
    'number into Go struct field ServiceSpec.spec.ipFamilies of type v1.IPFamily',
  ],
  [
    'ResourceQuota',
    { spec: { hard: 'x' } },
    'string into Go struct field ResourceQuotaSpec.spec.hard of type v1.ResourceList',
  ],
  [
    'PersistentVolumeClaim',
    { status: { allocatedResourceStatuses: { storage: 5 } } },
    'number into Go struct field PersistentVolumeClaimStatus.status.allocatedResourceStatuses of type v1.ClaimResourceStatus',
  ],
  ['ConfigMap', { kind: 5 }, 'number into Go struct field ConfigMap.TypeMeta.kind of type string'],
  ['ConfigMap', { metadata: { uid: 5 } }, 'number into Go struct field ObjectMeta.metadata.uid of type types.UID'],
  [
    'PodDisruptionBudget',
    { status: { disruptedPods: [] } },
    'array into Go struct field PodDisruptionBudgetStatus.status.disruptedPods of type map[string]v1.Time',
  ],
]

t.test('nameless structs stand in the path, types of texts have their names', async t => {
  for (const [kind, rest, text] of rows) t.equal(told(kind, rest), `json: cannot unmarshal ${text}`, text)
})

t.test('a time with microseconds has a layout of its own', async t => {
  const layout = '2006-01-02T15:04:05.000000Z07:00'
  t.equal(told('Lease', { spec: { renewTime: 'x' } }), `parsing time "x" as "${layout}": cannot parse "x" as "2006"`)
})
