"""MOA's learners by their command lines: they run in a Java virtual machine in this process.

MOA's jar is the one that the environment variable STREAMGAUGE_MOA_JAR names, or the one that CapyMOA brings. WEKA's
classifiers run too where the jar holds them: Moa("weka.classifiers.bayes.NaiveBayesUpdateable").
"""

import streamgauge as sg
from streamgauge.learners import Moa

results = sg.evaluate(
    sg.RandomRBF(n_rows=10_000),
    {
        "MOA's tree": Moa("trees.HoeffdingTree -g 100"),
        "MOA's bagging": Moa("meta.OzaBag -l trees.HoeffdingTree -s 5"),
        "our tree": sg.HoeffdingTree(grace_period=100),
    },
)
for name in results.learners:
    print(f"{name}: {results.curve(name, 'accuracy')[-1].mean():.3f}")
