/** The road of an object: from `kubectl apply` in a workload space to the cluster, and its status back. */
import { Picture } from './svg.ts'

export function road(): Picture {
  const picture = new Picture(704, 400, 'The road of an object from kubectl apply to the cluster, and its status back')
  picture
    .box({ x: 10, y: 110, width: 90, height: 56, title: 'kubectl', lines: ['or any client'] })
    .box({ x: 130, y: 16, width: 560, height: 262, title: 'center: one process', tone: 'soft' })
    .box({
      x: 150,
      y: 60,
      width: 140,
      height: 150,
      title: 'API server',
      lines: ['identify', 'authorize', 'admit', 'validate', 'serialize once'],
    })
    .box({ x: 330, y: 60, width: 120, height: 90, title: 'store', lines: ['one log,', 'one revision,', 'on disk'] })
    .box({
      x: 490,
      y: 60,
      width: 180,
      height: 150,
      title: 'placement',
      lines: [
        'select the objects',
        'choose the clusters',
        'check both consents',
        'adapt to each cluster',
        'write the copies',
      ],
    })
    .box({ x: 330, y: 190, width: 120, height: 70, title: 'mailbox', lines: ['one space', 'for each cluster'] })
    .arrow([100, 138], [150, 138])
    .arrow([290, 105], [330, 105])
    .arrow([450, 95], [490, 95])
    .text([470, 86], 'watch', 'small', 'middle')
    .arrow([580, 210], [580, 234], [450, 234])
    .text([590, 230], 'copies', 'small')
    .box({ x: 330, y: 320, width: 120, height: 60, title: 'syncer', lines: ['dials the center'] })
    .arrow([372, 260], [372, 320])
    .text([364, 302], 'space stream', 'small', 'end')
    .arrow([410, 320], [410, 260])
    .text([418, 302], 'status, outcome, upsync', 'small')
    .box({ x: 570, y: 320, width: 120, height: 60, title: 'cluster', lines: ['any Kubernetes'], tone: 'good' })
    .arrow([450, 342], [570, 342])
    .text([510, 335], 'apply', 'small', 'middle')
    .arrow([570, 364], [450, 364])
    .text([510, 380], 'watch', 'small', 'middle')
    .arrow([330, 240], [220, 240], [220, 210])
    .text([310, 256], 'status', 'small', 'end')
  return picture
}
