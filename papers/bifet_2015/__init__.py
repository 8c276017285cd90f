"""Bifet, De Francisci Morales, Read, Holmes and Pfahringer, Efficient online evaluation, KDD 2015."""
