// A space that is gone ends the work for it; an object that is gone is another matter.
import t from 'tap'
import { statusError } from '../../src/apimachinery/errors.ts'
import { unlessSpaceGone } from '../../src/controllers/spaceGone.ts'

const WORKSPACES = { group: 'tenancy.kcp.io', resource: 'workspaces' }

t.test('only the absence of that very space is passed over', async t => {
  t.equal(await unlessSpaceGone('x', Promise.resolve(1)), 1)
  t.equal(await unlessSpaceGone('x', Promise.reject(statusError.notFound(WORKSPACES, 'x'))), undefined)
  for (const error of [
    statusError.notFound(WORKSPACES, 'y'),
    statusError.notFound({ group: '', resource: 'configmaps' }, 'x'),
    new Error('disk on fire'),
  ]) {
    await t.rejects(unlessSpaceGone('x', Promise.reject(error)), { message: error.message })
  }
})
