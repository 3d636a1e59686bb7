// Customization for one destination: parameters, replacements, and faults that leave the rest alone.

import t from 'tap'
import type { KubeObject } from '../../../../src/apimachinery/object.ts'
import { atOnce } from '../../../../src/apimachinery/steps.ts'
import { loadCatalog } from '../../../../src/apiserver/catalog/catalog.ts'
import {
  type CustomizationInputs,
  customize as customizeInSteps,
} from '../../../../src/controllers/placement/copies/customize.ts'
import { ParameterExpansion } from '../../../../src/controllers/placement/copies/parameterExpansion.ts'
import { MAX_OBJECT_BYTES } from '../../../../src/controllers/placement/copies/replacing.ts'
import { customizerOf } from '../../../../src/placement/content/adaptation.ts'
import { countSteps } from '../../../support/countSteps.ts'
import * as fc from '../../../support/fastCheck.ts'

const schema = loadCatalog().schemaOf
const customize = (source: KubeObject, inputs: Omit<CustomizationInputs, 'schema'>) =>
  atOnce(customizeInSteps(source, { ...inputs, schema }))

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
const inputs = { schema, location, locationName: 'florin', customizer: undefined }
const NAMED = { 'edge.kubestellar.io/customizer': 'c' }

t.test('labels come before annotations, and %% is a percent sign', async t => {
  const parameters = new Map([['x', '1']])
  t.equal(atOnce(new ParameterExpansion(parameters).text('%(x) %(y) 50%% %%(x) %')), '1 %(y) 50% %(x) %')
  const { object: out } = customize(object(EXPAND, { '%(note)': '%(both) %(note)', list: ['%(loc-name)', 3] }), inputs)
  t.same(out.data, { '%(note)': 'label n', list: ['florin', 3] }, 'keys are not expanded')
})

t.test('a name that nothing defines is a fault, which hints at labels and at nothing that annotations say', async t => {
  const faultsOf = (data: unknown, more: Partial<CustomizationInputs> = {}) =>
    customize(object(EXPAND, data), { ...inputs, ...more }).faults
  t.same(faultsOf({ a: '%(loc-nme) %(loc-nme)', b: '%(nots)' }), [
    'parameter "loc-nme" is not defined in Location "florin"; did you mean "loc-name"? For the text itself write %%(loc-nme)',
    'parameter "nots" is not defined in Location "florin"; for the text itself write %%(nots)',
  ])
  t.same(faultsOf({ a: '%%(nots)s 100% %(note)', '%(key)': '%(' }), [], 'keys and what is written %% are no references')
  t.same(
    faultsOf({ a: '%(one two) %() %(three\nfour)' }),
    ['a reference %(…) holds what is no name of a parameter; for the text itself write %%(…)'],
    'and quotes no text of the object',
  )
  const elsewhere = customizer([{ path: '$.data.%(wher)', value: '"%(wat)"' }], EXPAND)
  t.match(customize(object(NAMED, {}), { ...inputs, customizer: elsewhere }).faults.join('; '), /"wher".*"wat"/)
  const many = Array.from({ length: 5000 }, (_, i) => `%(n${i})`).join('')
  const faults = faultsOf({ many })
  t.equal(faults.length, 21)
  t.equal(faults.at(-1), '4980 more parameters are not defined in Location "florin"')
  const labels = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`${'x'.repeat(60)}${i}`, 'v']))
  const crowded = { ...location, metadata: { name: 'florin', labels } }
  t.match(faultsOf({ a: `%(${'x'.repeat(300)})` }, { location: crowded })[0], /^parameter "x{300}" is not defined in /)
})

t.test('the status of the space is no text of the author, and no copy has it', async t => {
  const source = { ...object(EXPAND, { a: '%(loc-name)' }), status: { message: 'no %(such) thing' } }
  const { object: out, faults } = customize(source, inputs)
  t.match(out, { data: { a: 'florin' }, status: { message: 'no %(such) thing' } })
  t.same(faults, [])
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
  t.match(expanding, { object: { ...source, data: { florin: 'label' } }, faults: [] })
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

t.test('a fault quotes what its author wrote, and nothing that a Location says', async t => {
  const replacements = [
    { path: '$.data.a', value: '%(both)' },
    { path: '$..%(both)', value: '1' },
  ]
  const { faults } = customize(object(NAMED, {}), { ...inputs, customizer: customizer(replacements, EXPAND) })
  t.same(faults, [
    'Customizer web/c replacements[0]: value is not JSON once its parameters are in place: %(both)',
    'Customizer web/c replacements[1]: path $..%(both): it cannot be read once its parameters are in place',
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

const annotated = (annotations: Record<string, string>): KubeObject => ({
  ...location,
  metadata: { ...location.metadata, annotations },
})
const NOTHING = { schema, customizer: undefined, locationName: 'florin' }
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

t.test('the size of an expanded object is known before it is made', async t => {
  const pieces = fc.constantFrom('%', '%%', '%(', ')', '%(a)', '%(b)', '%(c)', '(', 'x', '"', '\n', 'ü', '😀', '\\')
  const text = fc.array(pieces, { maxLength: 12 }).map(parts => parts.join(''))
  const tree = fc.letrec(tie => ({
    node: fc.oneof(
      { depthSize: 'small' },
      text,
      fc.constantFrom(null, true, 0, -1.5, 1e21),
      fc.array(tie('node'), { maxLength: 4 }),
      fc.dictionary(text, tie('node'), { maxKeys: 4 }),
    ),
  })).node
  fc.assert(
    fc.property(tree, text, text, (value, a, b) => {
      const expansion = new ParameterExpansion(new Map(Object.entries({ a, b })))
      return atOnce(expansion.size(value)) === bytesOf(atOnce(expansion.value(value)))
    }),
  )
  const halves = new ParameterExpansion(new Map([['a', '\ude00']]))
  t.ok(
    atOnce(halves.size('\ud83d%(a)')) >= bytesOf(atOnce(halves.text('\ud83d%(a)'))),
    'halves of a character may meet',
  )
})

t.test('texts expand as their grammar says', async () => {
  const reference = (text: string, parameters: ReadonlyMap<string, string>): string =>
    text.replace(/%%|%\(([^)]*)\)/g, (found, name?: string) =>
      name === undefined ? '%' : (parameters.get(name) ?? found),
    )
  const parameters = new Map(Object.entries({ a: '<%(b)>', 'x%(a': 'odd', '': 'empty' }))
  const text = fc.array(fc.constantFrom('%', '(', ')', 'a', 'x', '%(a)', '%%')).map(parts => parts.join(''))
  fc.assert(
    fc.property(text, each => atOnce(new ParameterExpansion(parameters).text(each)) === reference(each, parameters)),
  )
})

t.test('brackets that never close are read once', async t => {
  const open = '%('.repeat(500_000)
  t.equal(atOnce(new ParameterExpansion(new Map()).text(open)), open)
})

t.test('a reference that comes again and again is measured once', async t => {
  // what has a quote has to be written down to be measured
  const text = `${'%(a")'.repeat(1000)}${'%(unknown)'.repeat(1000)}${'%%'.repeat(1000)}`
  const expansion = new ParameterExpansion(new Map([['a"', 'value"']]))
  const written = t.capture(JSON, 'stringify', JSON.stringify)
  const size = atOnce(expansion.textSize(text))
  const calls = written().length
  t.equal(size, 1000 * ('value\\"'.length + '%(unknown)'.length + 1))
  t.ok(calls > 0 && calls <= 4, `${calls} texts were written down to be measured`)
})

t.test('others have their turn while an object is measured, searched and written', async t => {
  const { steps: references } = countSteps(
    customizeInSteps(object(EXPAND, { one: '%(a)'.repeat(100_000) }), {
      ...NOTHING,
      location: annotated({ a: 'x'.repeat(100) }),
    }),
  )
  t.ok(references > 50, `${references} rests within a text of many references`)
  const data = Object.fromEntries(Array.from({ length: 16_000 }, (_, i) => [`k${i}`, 'v']))
  const replacements = Array.from({ length: 4 }, () => ({ path: `$${'..*'.repeat(8)}`, value: '1' }))
  const { steps: places, result } = countSteps(
    customizeInSteps(object(NAMED, data), { ...inputs, customizer: customizer(replacements) }),
  )
  t.ok(places > 50, `${places} rests within paths that find everything in everything`)
  t.match(result.faults.join(), /takes too much work/)
})

t.test('parameters that would blow up the object are not expanded, and that is told', async t => {
  const data = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`k${i}`, '%(a)'.repeat(1800)]))
  const source = object(EXPAND, data)
  const { object: out, faults } = customize(source, { ...NOTHING, location: annotated({ a: 'x'.repeat(16_000) }) })
  t.same(out, source)
  t.match(faults, [
    /^the object is not expanded: with the parameters of Location "florin" it would have 1152\d+ bytes, of at most 1572864$/,
  ])
  const fitting = customize(source, { ...NOTHING, location: annotated({ a: 'x'.repeat(20) }) })
  t.same(fitting.faults, [])
  t.equal(fitting.object.data && (fitting.object.data as Record<string, string>).k0, 'x'.repeat(36_000))
})

t.test('a parameter that is a document stays as it is, and the others count', async t => {
  const source = object(EXPAND, { v: '%(a) %(b) %(a)' })
  const { object: out, faults } = customize(source, {
    ...NOTHING,
    location: annotated({ a: 'x'.repeat(200_000), b: 'short', unused: 'x'.repeat(200_000) }),
  })
  t.same(out.data, { v: '%(a) short %(a)' })
  t.same(faults, ['parameter "a" of Location "florin" is not expanded: it has more than 16384 characters'])
})

t.test('an object that is large without parameters is expanded as long as it does not grow', async t => {
  const source = object(EXPAND, { large: 'x'.repeat(MAX_OBJECT_BYTES), v: '%(loc-name)' })
  const { object: out, faults } = customize(source, inputs)
  t.same(faults, [])
  t.equal((out.data as Record<string, string>).v, 'florin')
})

t.test('a path that finds everything many times over is given up, and told', async t => {
  const data = Object.fromEntries(Array.from({ length: 16_000 }, (_, i) => [`k${i}`, 'v']))
  let deep: object = data
  for (let i = 0; i < 12; i++) deep = { a: deep }
  const replacements = [
    { path: '$.data.k1', value: '"done"' },
    { path: `$${'..*'.repeat(8)}`, value: '1' },
    { path: '$.data.k2', value: '"not done"' },
  ]
  const { object: out, faults } = customize(object(NAMED, deep), { ...inputs, customizer: customizer(replacements) })
  t.same(out.data, { ...deep, k1: 'done' })
  t.same(faults, [
    'Customizer web/c replacements[1]: it takes too much work, so it and all behind it are left out; name fewer places, with fewer ..',
  ])
  const many = customize(object(NAMED, data), { ...inputs, customizer: customizer([{ path: '$.data.*', value: '1' }]) })
  t.same(many.object.data, data)
  t.match(many.faults, [/path \$\.data\.\*: it names more than 10000 places; name fewer of them at a time$/])
})

t.test('values that would blow up the object are left out', async t => {
  const data = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`k${i}`, 'v']))
  const large = JSON.stringify('x'.repeat(2000))
  const replacements = [
    { path: '$.data.*', value: large },
    { path: "$..['k1']", value: large },
    { path: '$.data.new', value: '"ok"' },
  ]
  const { object: out, faults } = customize(object(NAMED, data), { ...inputs, customizer: customizer(replacements) })
  t.same(out.data, { ...data, k1: 'x'.repeat(2000), new: 'ok' })
  t.match(faults, [
    /^Customizer web\/c replacements\[0\]: with it the object would have 40\d+ bytes, of at most 1572864$/,
  ])
  const long = customizer([{ path: '$.data.v', value: `"${'%(a)'.repeat(1800)}"` }], EXPAND)
  const expanded = customize(object(NAMED, {}), {
    ...NOTHING,
    location: annotated({ a: 'x'.repeat(16_000) }),
    customizer: long,
  })
  t.same(expanded.object.data, {})
  t.match(expanded.faults, [/replacements\[0\]: expanded it is larger than 1572864 bytes/])
})

t.test('a large value may take the place of another one, again and again', async t => {
  const megabyte = (letter: string): string => JSON.stringify(letter.repeat(1_000_000))
  const replacements = [
    { path: '$.data.v', value: megabyte('a') },
    { path: '$.data.*', value: megabyte('b') },
  ]
  const { object: out, faults } = customize(object(NAMED, { v: 'x' }), {
    ...inputs,
    customizer: customizer(replacements),
  })
  t.same(faults, [])
  t.equal((out.data as Record<string, string>).v?.[0], 'b')
})

t.test('many replacements together have one limit', async t => {
  const data = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, 'v']))
  const replacements = Array(5000).fill({ path: "$..['k7']", value: '"w"' })
  const {
    object: out,
    faults,
    work,
  } = customize(object(NAMED, data), { ...inputs, customizer: customizer(replacements) })
  t.same(out.data, { ...data, k7: 'w' })
  t.match(faults, [/^Customizer web\/c replacements\[\d+\]: it takes too much work/])
  t.ok(work <= 1_000_000, `${work}`)
})

t.test('no replacement makes an object that is too deep to be read', async t => {
  const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`
  const once = customize(object(NAMED, {}), {
    ...inputs,
    customizer: customizer([{ path: '$.data.v', value: deep(100_000) }]),
  })
  t.match(once.faults, [/value is nested more than 500 levels deep/])
  const source = object(NAMED, { v: '' })
  const replacements = ['', '[0]'.repeat(399), '[0]'.repeat(798)].map(at => ({
    path: `$.data.v${at}`,
    value: deep(400),
  }))
  const piled = customize(source, { ...inputs, customizer: customizer(replacements) })
  t.same(piled.object, source)
  t.match(piled.faults, [/replacements\[1\]: it nests the object more than 500 levels deep, so no replacement is made/])
})

t.test('faults are short and not many', async t => {
  const replacements = Array(3000).fill({ path: '$.data.v', value: `no ${'x'.repeat(10_000)}` })
  const { faults } = customize(object(NAMED, {}), { ...inputs, customizer: customizer(replacements) })
  t.equal(faults.length, 51)
  t.ok(faults.every(fault => fault.length <= 1001))
  t.match(faults.at(-1), /^and \d+ more faults$/)
})
