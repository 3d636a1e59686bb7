/** The order of work statuses is made when objects come or go, not for each page. */
import t from 'tap'
import { Workload } from '../../../../../src/controllers/placement/join/workload.ts'
import { WorkStatusOrder } from '../../../../../src/controllers/placement/status/workStatuses/workStatusOrder.ts'
import { objectKey } from '../../../../../src/placement/words/names.ts'
import { MAPS } from '../../translatorWorld.ts'

function world() {
  const workload = new Workload(
    () => {},
    () => false,
  )
  let looked = 0
  const { inNamespace } = workload
  workload.inNamespace = namespace => {
    looked++
    return inNamespace.call(workload, namespace)
  }
  const add = (name: string, revision = 1): string => {
    const key = objectKey(MAPS, 'shop', name)
    const more = { uid: '', labels: {}, customized: false, customizer: '', annotated: false, defines: [] }
    workload.setObject({ key, resource: MAPS, namespace: 'shop', name, revision, ...more })
    return key
  }
  const order = new WorkStatusOrder()
  const pace = { due: false, rest: async () => {} }
  const names = async (): Promise<string[]> => (await order.of('w', 'shop', workload, pace)).map(([tail]) => tail)
  return { workload, add, order, pace, names, looked: () => looked }
}

t.test('pages share one order until an object comes or goes', async t => {
  const { workload, add, names, looked } = world()
  for (const name of ['b', 'c', 'a']) add(name)
  const expected = ['configmaps:a', 'configmaps:b', 'configmaps:c']
  for (let page = 0; page < 5; page++) t.same(await names(), expected)
  add('b', 2)
  t.same(await names(), expected)
  t.equal(looked(), 1, 'a change of an object is none of the order')
  add('ab')
  t.same(await names(), ['configmaps:a', 'configmaps:ab', 'configmaps:b', 'configmaps:c'])
  workload.removeObject(objectKey(MAPS, 'shop', 'a'))
  t.same(await names(), ['configmaps:ab', 'configmaps:b', 'configmaps:c'])
  t.equal(looked(), 3)
})

t.test('what changed while it was made is made again; another space of the name is another', async t => {
  const { workload, add, order, pace, names, looked } = world()
  add('a')
  let rests = 0
  const busy = {
    due: true,
    rest: async () => {
      if (rests++ === 0) add('b')
    },
  }
  await order.of('w', 'shop', workload, busy)
  t.same(await names(), ['configmaps:a', 'configmaps:b'])
  t.equal(looked(), 2)
  const other = world()
  other.add('z')
  t.same(
    (await order.of('w', 'shop', other.workload, pace)).map(([tail]) => tail),
    ['configmaps:z'],
  )
})
