/** The address of a workflow's latest run in the Temporal UI; null if the address of the UI is not known. */
export const workflowPage = (
  { uiUrl, namespace }: { uiUrl: string | null; namespace: string },
  workflowId: string,
): string | null =>
  uiUrl && `${uiUrl}/namespaces/${namespace}/workflows/${encodeURIComponent(workflowId)}`;
