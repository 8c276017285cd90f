"""The tutorials, as notebooks: ``python -m docs.tutorials`` runs them, and stores what they show.

No Jupyter is needed: the cells of a notebook run one after the other in one namespace, in an empty folder.
"""
