/** A watch goes on for an hour: it keeps none of the objects that it began with, which may be changed by then. */
import t from 'tap'
import { planOf, runWatch, type WatchTarget } from '../../../src/apiserver/endpoints/watch.ts'
import { parseRequest } from '../../../src/apiserver/request/requestInfo.ts'
import { CONFIGMAPS, configMap, ON_MAIN_THREAD, startTestServer } from '../../support/server.ts'

const { api, server } = await startTestServer(t, ON_MAIN_THREAD)
const { services } = server

t.test('they are let go once they are sent', async t => {
  await api.ok(api.post(CONFIGMAPS, configMap('first')))
  const info = parseRequest('GET', `${CONFIGMAPS}?watch=1`)
  const space = 'root'
  const target: WatchTarget = {
    info,
    resource: info.resource!,
    space,
    type: services.types.in(space).find('', 'v1', 'configmaps')!,
    form: { format: 'json' } as WatchTarget['form'],
    user: { name: 'u', groups: [] },
  }
  const plan = await planOf(services, target)
  t.ok(plan.initial?.items.some(({ key }) => key.name === 'first'))
  const second = Promise.withResolvers<string>()
  const sink = {
    busy: false,
    async write(frames: readonly Buffer[]) {
      const last = JSON.parse(frames.at(-1)!.toString())
      if (last.object.metadata.name === 'second') second.resolve(last.type)
      return true
    },
    end() {},
  }
  const gone = new AbortController()
  const permission = { space, identity: { user: target.user }, judge: () => {} }
  const ended = runWatch(services, target, plan, sink, { gone: gone.signal, permission })
  await api.ok(api.post(CONFIGMAPS, configMap('second')))
  t.equal(await second.promise, 'ADDED')
  t.equal(plan.initial, undefined)
  gone.abort()
  await ended
})
