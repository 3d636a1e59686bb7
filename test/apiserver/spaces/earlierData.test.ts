/** Spaces that get a type when an earlier release's data is brought along: who is told. */
import t from 'tap'
import { UNIVERSAL } from '../../../src/apimachinery/spaceTypes.ts'
import { setType } from '../../../src/apiserver/spaces/earlierData.ts'
import { BOOTSTRAP, ensureInitialSpaces } from '../../../src/apiserver/spaces/initialSpaces.ts'
import { startTestServer } from '../../support/server.ts'

t.test('whoever follows types is told of each space that has another one, before the mark is set', async t => {
  const { server } = await startTestServer(t)
  const { services, store, tree } = server
  const { registry, types } = services
  const typeOf = (path: string): string => {
    const found = tree.resolve(path)
    return found.found ? found.space.type.name : 'none'
  }
  for (const name of ['espw', 'imw1', 'wmw1']) {
    await setType({ registry, types, component: BOOTSTRAP }, { space: 'root', name }, UNIVERSAL)
  }
  const told: string[] = []
  const quiet = () => {}
  const deps = { store, registry, types, tree, log: { info: quiet, warn: quiet, error: quiet }, firstObjects: [] }
  const failing = async (): Promise<void> => {
    throw new Error('the disk is on fire')
  }
  await t.rejects(ensureInitialSpaces({ ...deps, beforeTyped: failing }), { message: 'the disk is on fire' })
  t.equal(typeOf('root:espw'), 'universal', 'what fails is done again')
  await ensureInitialSpaces({
    ...deps,
    async beforeTyped(space, type) {
      told.push(`${tree.pathOf(space)} ${type.name} ${typeOf('root:espw')}`)
    },
  })
  t.same(told.sort(), ['root:imw1 inventory universal', 'root:wmw1 workload universal'])
  t.equal(typeOf('root:espw'), 'core')
})
