// Customization for one destination: parameters, replacements, and faults that leave the rest alone.
import fc from 'fast-check'
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { customize, customizerOf, expandText } from '../../../src/controllers/placement-translator/customize.ts'

const EXPAND = { 'edge.kubestellar.io/expand-parameters': 'true' }
const location: KubeObject = {
  apiVersion: 'edge.kubestellar.io/v2alpha1',
  kind: 'Location',
  metadata: {
    name: 'florin',
    labels: { 'loc-name': 'florin', both: 'label' },
    annotations: { both: 'annotation', note: 'n' },
  },
}
const object = (annotations: Record<string, string>, data: unknown): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'page', namespace: 'web', annotations },
  data,
})
const customizer = (replacements: unknown[], annotations = {}): KubeObject => ({
  apiVersion: 'edge.kubestellar.io/v2alpha1',
  kind: 'Customizer',
  metadata: { name: 'c', namespace: 'web', annotations },
  replacements,
})
const inputs = { location, locationName: 'florin', customizer: undefined }
const NAMED = { 'edge.kubestellar.io/customizer': 'c' }

t.test('labels come before annotations, unknown names stay, %% is a percent sign', async t => {
  const parameters = new Map([['x', '1']])
  t.equal(expandText('%(x) %(y) 50%% %%(x) %', parameters), '1 %(y) 50% %(x) %')
  const { object: out } = customize(object(EXPAND, { '%(note)': '%(both) %(note)', list: ['%(loc-name)', 3] }), inputs)
  t.same(out.data, { '%(note)': 'label n', list: ['florin', 3] }, 'keys are not expanded')
})

t.test('an object that does not ask is passed on as it is', async t => {
  const source = object({}, { a: '%(loc-name)' })
  t.equal(customize(source, inputs).object, source)
})

t.test('the source is never changed, whatever the customization does', async () => {
  fc.assert(
    fc.property(
      fc.jsonValue(),
      fc.constantFrom('$.data', '$.data.a', '$..*', '$.metadata', '$.kind', '$['),
      (data, path) => {
        const source = object({ ...EXPAND, ...NAMED }, data)
        const before = JSON.stringify(source)
        const { object: out } = customize(source, { ...inputs, customizer: customizer([{ path, value: '{"x":1}' }]) })
        const { name, namespace } = out.metadata
        return JSON.stringify(source) === before && `${out.kind} ${namespace}/${name}` === 'ConfigMap web/page'
      },
    ),
  )
})

t.test('the object is expanded first; path and value only when the Customizer asks for it', async t => {
  const replacements = [{ path: '$.data.%(loc-name)', value: '"%(both)"' }]
  const source = object(NAMED, {})
  const expanding = customize(source, { ...inputs, customizer: customizer(replacements, EXPAND) })
  t.same(expanding, { object: { ...source, data: { florin: 'label' } }, faults: [] })
  const literal = customize(source, { ...inputs, customizer: customizer([{ path: '$.data.x', value: '"%(both)"' }]) })
  t.same(literal.object.data, { x: '%(both)' })
})

t.test('a bad replacement is skipped and named, the others count', async t => {
  const replacements = [
    { path: '$.data.a', value: 'not json' },
    { path: '$..a', value: '1' },
    { path: '$.data.nowhere.b', value: '1' },
    { path: '$.data.ok', value: '"yes"' },
  ]
  const { object: out, faults } = customize(object(NAMED, {}), { ...inputs, customizer: customizer(replacements) })
  t.same(out.data, { ok: 'yes' })
  t.match(faults, [
    'Customizer web/c replacements[0]: value is not JSON: not json',
    /^Customizer web\/c replacements\[1\]: path \$\.\.a: at character 4/,
    'Customizer web/c replacements[2]: path $.data.nowhere.b leads nowhere in this object',
  ])
})

t.test('missing Customizers and Locations are told, and the object goes out as far as it can', async t => {
  const source = object({ ...EXPAND, ...NAMED }, { a: '%(loc-name)' })
  const { object: out, faults } = customize(source, { ...inputs, location: undefined })
  t.same(out, source)
  t.equal(faults.length, 2)
  t.match(faults.join(), /Location "florin" not found.*Customizer "web\/c" not found/)
})

t.test('a cluster-scoped object must say where its Customizer is', async t => {
  const role: KubeObject = { apiVersion: 'v1', kind: 'ClusterRole', metadata: { name: 'r', annotations: NAMED } }
  t.equal(customizerOf(role), '/c')
  t.match(customize(role, inputs).faults, [/namespace\/name/])
  role.metadata.annotations = { 'edge.kubestellar.io/customizer': 'web/c' }
  t.equal(customizerOf(role), 'web/c')
})
