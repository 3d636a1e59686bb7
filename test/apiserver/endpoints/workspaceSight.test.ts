/** A list of thousands of Workspaces by a user who may enter few of them takes slices of the loop. It checks no more than it must. */
import t from 'tap'
import { WORKSPACES } from '../../../src/apimachinery/resources.ts'
import { sightOf } from '../../../src/apiserver/endpoints/workspaceSight.ts'
import { encodeObject } from '../../../src/apiserver/registry/codec.ts'
import { EVERYTHING } from '../../../src/apiserver/registry/selection.ts'
import { WorkTurns } from '../../../src/program/workTurns.ts'
import { versionOf } from '../../../src/storage/texts.ts'

const MANY = 500

function workspace(i: number) {
  const object = {
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'Workspace',
    metadata: {
      name: `w${i}`,
      annotations: { 'experimental.tenancy.kcp.io/owner': JSON.stringify({ username: i === 3 ? 'ann' : 'bob' }) },
    },
    spec: { cluster: `c${i}` },
  }
  const key = { space: 'root', group: WORKSPACES.group, resource: WORKSPACES.resource, namespace: '', name: `w${i}` }
  return versionOf(key, i + 1, encodeObject(object))
}

t.test('rights in thousands of spaces are asked in slices, and waited for only where they are not known', async t => {
  let asked = 0
  let waited = 0
  const authorizer = {
    authorize: async () => ({ allowed: false, reason: '' }),
    mayAccessSpace: (_user: unknown, space: string) => {
      asked++
      if (!space.endsWith('9')) return space === 'c5'
      waited++
      return Promise.resolve(space === 'c19')
    },
  }
  const exchange = {
    user: { name: 'ann', groups: ['system:authenticated'] },
    space: 'root',
    type: WORKSPACES,
    info: { verb: 'list', query: new URLSearchParams() },
    resource: { ...WORKSPACES, subresource: '', namespace: '', name: '' },
  }
  const sight = await sightOf(authorizer as never, exchange as never)
  const { sight: narrowed } = sight!.narrowed(EVERYTHING)
  const all = Array.from({ length: MANY }, (_, i) => workspace(i))
  let ms = 0
  const work = new WorkTurns({ sliceMs: 5, clock: () => ms++ }).begin({ owner: 'root' })
  let done = false
  let most = 0
  const learnt = narrowed!.learn(all, work).then(() => {
    done = true
  })
  for (let before = asked; !done; before = asked) {
    await new Promise(resolve => setImmediate(resolve))
    most = Math.max(most, asked - before)
  }
  await learnt
  t.same(
    all.filter(stored => narrowed!.sees(stored)).map(({ key }) => key.name),
    ['w3', 'w5', 'w19'],
  )
  t.ok(most <= 10, `${most} in a turn`)
  t.equal(asked, MANY - 1, 'not about their own')
  t.equal(waited, MANY / 10)
})
