/** Which kinds a space serves: the shared ones under its own, kept up to date piece by piece. */
import t from 'tap'
import type { ResourceType } from '../../../src/apimachinery/resourceType.ts'
import { TypeRegistry } from '../../../src/apiserver/types/typeRegistry.ts'
import * as fc from '../../support/fastCheck.ts'

const typeOf = (group: string, version: string, resource: string): ResourceType => ({
  group,
  version,
  resource,
  singular: resource.slice(0, -1),
  kind: resource,
  listKind: `${resource}List`,
  shortNames: [],
  categories: [],
  namespaced: true,
  verbs: [],
  storageVersion: version,
  subresources: [],
  schema: undefined,
  columns: [],
  selectableFields: [],
  form: 'custom',
})
const pods = typeOf('', 'v1', 'pods')
const names = (types: readonly ResourceType[]): string[] => types.map(x => `${x.group}/${x.version}/${x.resource}`)

t.test('a space sees the built-in kinds and its own', async t => {
  const registry = new TypeRegistry([pods])
  const [v1, v2] = [typeOf('a.b', 'v1', 'boats'), typeOf('a.b', 'v2', 'boats')]
  const before = registry.in('one')
  registry.define('one', 'boats.a.b', [v1, v2])
  const set = registry.in('one')
  t.not(set, before, 'a change is another set')
  t.equal(registry.in('one'), set, 'no change is the same set')
  t.strictSame(names(set.types), ['/v1/pods', 'a.b/v1/boats', 'a.b/v2/boats'])
  t.equal(set.find('a.b', 'v2', 'boats'), v2)
  t.equal(set.find('', 'v1', 'pods'), pods)
  t.strictSame(set.versions('a.b', 'boats'), [v1, v2])
  t.ok(set.hasGroupVersion('a.b', 'v2'))
  t.strictSame(names(registry.in('two').types), ['/v1/pods'])
  registry.define('one', 'boats.a.b', [v2])
  t.notOk(registry.in('one').hasGroupVersion('a.b', 'v1'))
  registry.define('one', 'boats.a.b', [])
  t.equal(registry.in('one'), before, 'a space without definitions of its own costs nothing')
})

t.test('all spaces together see the built-in kinds, and those that none defines otherwise', async t => {
  const registry = new TypeRegistry([pods])
  const custom = { schemas: new Map(), generation: 1 }
  const boats = { ...typeOf('a.b', 'v1', 'boats'), custom }
  const seen = (): string[] => names(registry.in('*').types)
  t.equal(registry.in('*'), registry.builtin)
  registry.define('one', 'boats.a.b', [boats])
  registry.define('two', 'boats.a.b', [{ ...boats, verbs: ['get'], custom: { ...custom, generation: 2 } }])
  t.strictSame(seen(), ['/v1/pods', 'a.b/v1/boats'])
  t.equal(registry.in('*'), registry.in('*'), 'no change is the same set')
  t.equal(registry.in('*').find('a.b', 'v1', 'boats')?.custom?.generation, 2, 'the one that reads most carefully')
  t.ok(registry.in('*').hasGroupVersion('a.b', 'v1'))
  registry.define('three', 'boats.a.b', [{ ...boats, storageVersion: 'v2' }])
  t.strictSame(seen(), ['/v1/pods'])
  t.notOk(registry.in('*').hasGroupVersion('a.b', 'v1'))
  t.strictSame(
    registry
      .in('*')
      .definitions?.('a.b', 'boats')
      .map(({ place }) => place),
    ['one', 'two', 'three'],
  )
  registry.forgetSpace('three')
  t.strictSame(seen(), ['/v1/pods', 'a.b/v1/boats'])
  const convert = async () => []
  registry.define('two', 'boats.a.b', [{ ...boats, custom: { ...custom, convert } }])
  t.strictSame(seen(), ['/v1/pods'], 'a webhook converts the objects of its own space alone')
  registry.define('one', 'boats.a.b', [])
  t.strictSame(seen(), ['/v1/pods', 'a.b/v1/boats'])
  registry.define('two', 'boats.a.b', [])
  t.equal(registry.in('*'), registry.builtin)
})

t.test('a change of one kind, or of a space without another, has that other compared no more', async t => {
  const registry = new TypeRegistry([pods])
  let compared = 0
  const boats = (space: string): ResourceType => {
    const type = { ...typeOf('a.b', 'v1', 'boats'), custom: { schemas: new Map(), generation: 1 } }
    const columns = [{ name: space, type: 'string' as const }]
    const get = () => {
      compared++
      return columns
    }
    return Object.defineProperty(type, 'columns', { enumerable: true, get })
  }
  const isServed = (): boolean => registry.in('*').find('a.b', 'v1', 'boats') !== undefined
  for (const space of ['one', 'two']) registry.define(space, 'boats.a.b', [boats('alike')])
  for (const served of [true, false]) {
    t.equal(isServed(), served)
    compared = 0
    registry.define('three', 'cars.a.b', [typeOf('a.b', 'v1', 'cars')])
    t.equal(isServed(), served)
    registry.forgetSpace('three')
    t.equal(isServed(), served)
    t.equal(compared, 0)
    registry.define('four', 'boats.a.b', [boats('other')])
  }
  registry.forgetSpace('four')
  t.equal(isServed(), true)
})

t.test('what is built in cannot be defined away', async t => {
  const registry = new TypeRegistry([pods])
  registry.define('one', 'pods', [{ ...pods, kind: 'Other' }])
  t.equal(registry.in('one').find('', 'v1', 'pods'), pods)
  t.strictSame(names(registry.in('one').types), ['/v1/pods'])
})

t.test('listeners hear of every change, once', async t => {
  const registry = new TypeRegistry([pods])
  const heard: string[] = []
  const stop = registry.onChange((space, group, resource) => heard.push(`${space} ${resource}.${group}`))
  registry.define('one', 'boats.a.b', [typeOf('a.b', 'v1', 'boats'), typeOf('a.b', 'v2', 'boats')])
  registry.define('one', 'boats.a.b', [])
  registry.define('one', 'boats.a.b', [])
  stop()
  registry.define('one', 'boats.a.b', [typeOf('a.b', 'v1', 'boats')])
  t.strictSame(heard, ['one boats.a.b', 'one boats.a.b'])
})

t.test('after any changes lookups agree with the list', async t => {
  const change = fc.record({
    resource: fc.constantFrom('as', 'bs', 'cs'),
    group: fc.constantFrom('x.y', 'z.y'),
    versions: fc.uniqueArray(fc.constantFrom('v1', 'v2', 'v3')),
  })
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), changes => {
        const registry = new TypeRegistry([pods])
        const last = new Map<string, string[]>()
        for (const { resource, group, versions } of changes) {
          registry.define(
            's',
            `${resource}.${group}`,
            versions.map(version => typeOf(group, version, resource)),
          )
          last.set(
            `${resource}.${group}`,
            versions.map(version => `${group}/${version}/${resource}`),
          )
        }
        const set = registry.in('s')
        const wanted = ['/v1/pods', ...last.values()].flat()
        if (JSON.stringify(names(set.types).sort()) !== JSON.stringify(wanted.sort())) return false
        for (const group of ['x.y', 'z.y']) {
          for (const version of ['v1', 'v2', 'v3']) {
            const has = ['as', 'bs', 'cs'].filter(resource => set.find(group, version, resource) !== undefined)
            if (has.some(resource => !wanted.includes(`${group}/${version}/${resource}`))) return false
            if (set.hasGroupVersion(group, version) !== has.length > 0) return false
          }
        }
        return true
      }),
    ),
  )
})
