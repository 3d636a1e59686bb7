/** A client with the content up to a cursor gets a snapshot with later changes, and the names of the rest. */
import t from 'tap'
import { CONFIGMAPS, configMap, createSpace, startTestServer } from '../support/server.ts'

const { api } = await startTestServer(t)

t.test('what stands since the known cursor comes without its object', async t => {
  const space = await createSpace(api, 'known')
  const at = api.in(space)
  for (const name of ['stays', 'changes', 'goes']) await api.ok(at.post(CONFIGMAPS, configMap(name)))
  const told = async (query: string) => {
    const stream = await api.watch(`/services/stream/clusters/${space}?resources=configmaps${query}`)
    const events = await stream.until(event => event.synced === true)
    const bookmark = events.at(-1) as unknown as { revision: number; epoch: string }
    const names = events
      .slice(0, -1)
      .map(event => event as unknown as { name: string; object?: { metadata: { name: string } } })
      .filter(({ name }) => !name.startsWith('kube-'))
    return { bookmark, names: names.map(({ name, object }) => `${name} ${object?.metadata.name === name}`) }
  }
  const { bookmark } = await told('')
  await api.ok(at.delete(`${CONFIGMAPS}/goes`))
  await api.ok(at.patch(`${CONFIGMAPS}/changes`, 'merge', { data: { new: 'yes' } }))
  await api.ok(at.post(CONFIGMAPS, configMap('comes')))
  const known = `&known=${bookmark.revision}`
  t.same((await told(`${known}&epoch=${bookmark.epoch}`)).names, ['changes true', 'comes true', 'stays false'])
  const all = ['changes true', 'comes true', 'stays true']
  for (const query of [
    known,
    `${known}&epoch=another`,
    `&known=x&epoch=${bookmark.epoch}`,
    `&known=999999999&epoch=${bookmark.epoch}`,
  ])
    t.same((await told(query)).names, all, query)
})
