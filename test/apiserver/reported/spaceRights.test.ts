/** Rights in all spaces are looked up in slices: others get their turn however many spaces there are. */
import t from 'tap'
import { spaceRights } from '../../../src/apiserver/reported/spaceRights.ts'
import { parseRequest } from '../../../src/apiserver/request/requestInfo.ts'

t.test('others get their turn between two spaces, and while a watch begins', async t => {
  let rests = 0
  const work = {
    due: true,
    rest: async () => {
      rests++
    },
  }
  const authorizer = {
    mayAccessSpace: (_user: unknown, space: string) => space !== 'closed',
    authorize: ({ space }: { space: string }) => ({ allowed: space === 'mine', reason: '' }),
  }
  const known = ['mine', 'refused', 'closed']
  const places = { spaces: () => known, followClusters: () => () => {} }
  const info = parseRequest('GET', '/services/reported/clusters/*/api/v1/configmaps?watch=1')
  const authorized = { info, user: { name: 'policy', groups: ['system:authenticated'] }, space: '*' }
  const rights = await spaceRights({ authorizer, places, work } as never, authorized)
  t.same([[...rights.readable], rights.refused, rests], [['mine'], 1, 3])
  const judged: Promise<unknown>[] = []
  const access = {
    hold: ({ judge }: { judge(anew: boolean): unknown }) => {
      judged.push(Promise.resolve(judge(true)))
      return { refusal: undefined, release: () => {} }
    },
  }
  const permission = { space: '*', identity: { user: authorized.user }, judge: () => {} }
  const held = rights.hold(access, permission, () => {})
  await Promise.all(judged)
  t.same([judged.length, rests], [4, 6])
  held.release()
  known.push('new')
  judged.length = 0
  const later = rights.hold(access, permission, () => {})
  await Promise.all(judged)
  t.equal(judged.length, 5, 'a space that came meanwhile is followed, too')
  later.release()
})
