/** Names under which the program is another one: the kubectl plugins, and what kubectl asks to complete their command lines. */
export const LINKS = [
  'kubectl-ws',
  'kubectl-kubestellar',
  'kubectl_complete-ws',
  'kubectl_complete-kubestellar',
] as const
